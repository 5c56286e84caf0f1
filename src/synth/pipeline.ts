import type { Candidate, PreferencePair } from "../trajectory/sample.ts";
import type { DrawnQuestion } from "./draw-log.ts";
import { synthSteps } from "./steps/index.ts";
import type { OpenedStep, SampleGroup, StepResources, StepResult } from "./steps/step.ts";
import type { SynthSettings } from "./synth-settings.ts";
import { finished, type StepYield, yieldCounter } from "./yields.ts";

/** The remaining draws of one question. */
export interface PipelineResult extends SampleGroup {
  /** Pairs made by the steps, with the question. */
  pairs: PreferencePair[];
  /** Dropped candidates, with step and reason. */
  dropped: { candidate: Candidate; by: string; reason: string }[];
}

/** A run's steps in order. */
export interface Pipeline {
  apply(drawn: DrawnQuestion): PipelineResult;
  /** Yields of each step so far; the first row counts the draws. */
  yields(): StepYield[];
}

/** Opens the steps of the settings. @throws the errors of the steps' `open`. */
export async function openPipeline(
  steps: SynthSettings["steps"],
  resources: StepResources,
): Promise<Pipeline> {
  const opened: { step: OpenedStep; counter: ReturnType<typeof yieldCounter> }[] = [];
  for (const { name, ...options } of steps) {
    const part = synthSteps.get(name, "synth.steps");
    const step = await part.open(options, resources);
    opened.push({ step, counter: yieldCounter(name, part.kind) });
  }
  const drawn = yieldCounter("drawn", "draw");
  return {
    yields: () => [drawn, ...opened.map(({ counter }) => counter)].map(({ row }) => row),
    apply(question) {
      const start = finished(question);
      drawn.count(question.candidates.length, start, start.kept.length);
      const result: PipelineResult = { ...start.group, pairs: [], dropped: [] };
      note(result, question.candidates, start, "drawn");
      for (const { step, counter } of opened) {
        const { task, candidates } = result;
        if (candidates.length === 0) break;
        const applied = step.apply({ task, candidates });
        counter.count(candidates.length, applied, applied.kept.length);
        note(result, candidates, applied, counter.row.name);
        result.candidates = passed(candidates, applied, counter.row.name);
        result.pairs.push(...(applied.pairs ?? []).map((pair) => ({ ...pair, task })));
      }
      return result;
    },
  };
}

/** Records the candidates that a step dropped. */
function note(
  result: PipelineResult,
  before: readonly Candidate[],
  { dropped }: StepResult,
  by: string,
): void {
  for (const { id, reason } of dropped) {
    const candidate = before.find((each) => each.id === id);
    if (candidate !== undefined) result.dropped.push({ candidate, by, reason });
  }
}

/** The candidates that a step kept, with the step in their provenance. */
function passed(
  before: readonly Candidate[],
  { kept, mended = [] }: StepResult,
  name: string,
): Candidate[] {
  return kept.map((candidate) => {
    const earlier = before.find(({ id }) => id === candidate.id);
    const change = mended.includes(candidate.id)
      ? "mended"
      : earlier?.weight !== candidate.weight
        ? "weighed"
        : earlier.scores !== candidate.scores
          ? "scored"
          : undefined;
    const { provenance } = candidate;
    const went = { name, change };
    return { ...candidate, provenance: { ...provenance, steps: [...provenance.steps, went] } };
  });
}
