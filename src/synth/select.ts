import { rm } from "node:fs/promises";
import { join } from "node:path";
import { random } from "../base/random.ts";
import { SAMPLE_FILES } from "../trajectory/sample-files.ts";
import type { Candidate, PreferencePair, Sample } from "../trajectory/sample.ts";
import type { Task } from "../trajectory/task.ts";
import { searchCount } from "../trajectory/trajectory.ts";
import { DRAWS_FILE, type DrawnQuestion, isFinal, readDraws } from "./draw-log.ts";
import {
  type RowFile,
  type RowPlace,
  type RowStore,
  type WrittenFile,
  openRowStore,
  writingAll,
} from "./row-files.ts";
import { sampleScorers } from "./scorers/index.ts";
import { sampleSelectors } from "./selectors/index.ts";
import type { SampleFacts } from "./selectors/selector.ts";
import { synthSteps } from "./steps/index.ts";
import type { OpenedStep, SampleGroup, StepResources, StepResult } from "./steps/step.ts";
import type { SynthSettings } from "./synth-settings.ts";
import {
  type DrawYield,
  type StepYield,
  finished,
  openDrawYields,
  yieldCounter,
} from "./yields.ts";

/** Settings to select samples from the draws of a folder. */
export interface SelectionSetting {
  /** Where the rows are written. */
  folder: string;
  /** Folder of the synthesis whose `draws.jsonl` is read; `folder` when absent. */
  drawsIn?: string;
  settings: SynthSettings;
  resources: StepResources;
  seed: number;
  signal: AbortSignal;
  /** Also writes dropped candidates, with the reason, to `dropped.jsonl`. */
  keepDropped?: boolean;
  onProgress?: (questions: number) => void;
}

/** Result of a selection. */
export interface Selection {
  questions: number;
  draws: DrawYield[];
  yields: StepYield[];
  failures: Record<string, number>;
  /** What the first of them said. */
  firstFailure?: string;
  files: Record<string, WrittenFile>;
}

const DROPPED_FILE = "dropped.jsonl";

/**
 * Runs the steps over a folder's draws, applies the selectors and writes each file completely or not at all. Rows are streamed; memory holds
 * a few numbers of each sample. @throws {DataError} as `readDraws`. @throws {ConfigError} as the steps and selectors.
 */
export async function selectSamples(setting: SelectionSetting): Promise<Selection> {
  const { folder, settings, keepDropped = false } = setting;
  // Old files must not be mistaken for this selection's.
  const { pairsValidation } = SAMPLE_FILES;
  const names = [
    ...[SAMPLE_FILES.samples, SAMPLE_FILES.validation, SAMPLE_FILES.pairs],
    ...(settings.validation > 0 ? [pairsValidation] : []),
    ...(keepDropped ? [DROPPED_FILE] : []),
  ];
  const selection = await writingAll(folder, names, async (files) => {
    const chosen =
      settings.selection.length === 0 ? null : await openRowStore(join(folder, "selecting.tmp"));
    try {
      const passed = await runSteps(setting, files, chosen);
      if (chosen === null) return passed.selection;
      const { rows, yields } = choose(setting, passed.samples);
      for (const { facts, place } of rows)
        await files(sideOf(setting, "samples", facts.taskId)).add(await chosen.read(place));
      return { ...passed.selection, yields: [...passed.selection.yields, ...yields] };
    } finally {
      await chosen?.close();
    }
  });
  for (const name of [pairsValidation, DROPPED_FILE]) {
    if (!names.includes(name)) await rm(join(folder, name), { force: true });
  }
  return selection;
}

type KeptSample = { facts: SampleFacts; place: RowPlace };

type Files = (name: string) => RowFile;

async function runSteps(
  setting: SelectionSetting,
  files: Files,
  aside: RowStore | null,
): Promise<{ selection: Omit<Selection, "files">; samples: KeptSample[] }> {
  const { folder, settings, resources, signal, keepDropped, onProgress } = setting;
  const { drawsIn = folder } = setting;
  const pipeline = await openPipeline(settings.steps, resources);
  const sums = openDrawYields(
    settings.draws.map(({ name }) => name),
    settings.scores.flatMap(({ name }) => sampleScorers.get(name, "synth.scores").gives),
  );
  const samples: KeptSample[] = [];
  const failures: Record<string, number> = {};
  const shared = sharedTexts();
  let firstFailure: string | undefined;
  let questions = 0;
  for await (const drawn of readDraws(join(drawsIn, DRAWS_FILE))) {
    signal.throwIfAborted();
    sums.add(drawn);
    for (const { code, message } of failuresIn(drawn)) {
      failures[code] = (failures[code] ?? 0) + 1;
      firstFailure ??= message;
    }
    const { task, candidates, pairs, dropped } = pipeline.apply(drawn);
    for (const candidate of candidates) {
      const line = lineOf(sampleOf(task, candidate));
      if (aside === null) await files(sideOf(setting, "samples", task.id)).add(line);
      else {
        const place = await aside.add(line);
        samples.push({ place, facts: factsOf(task, candidate, shared) });
      }
    }
    for (const pair of pairs) await files(sideOf(setting, "pairs", task.id)).add(lineOf(pair));
    if (keepDropped === true) {
      for (const { candidate, by, reason } of dropped)
        await files(DROPPED_FILE).add(
          lineOf({ dropped: { by, reason }, ...sampleOf(task, candidate) }),
        );
    }
    questions += 1;
    onProgress?.(questions);
  }
  return {
    selection: {
      questions,
      draws: sums.yields(),
      yields: pipeline.yields(),
      failures,
      firstFailure,
    },
    samples,
  };
}

function lineOf(row: unknown): string {
  return `${JSON.stringify(row)}\n`;
}

function sideOf(
  { settings: { validation }, seed }: SelectionSetting,
  kind: "samples" | "pairs",
  taskId: string,
): string {
  const apart = validation > 0 && random(seed).derive("validation", taskId).next() < validation;
  if (kind === "samples") return apart ? SAMPLE_FILES.validation : SAMPLE_FILES.samples;
  return apart ? SAMPLE_FILES.pairsValidation : SAMPLE_FILES.pairs;
}

function failuresIn({
  candidates,
  failed = [],
}: DrawnQuestion): readonly { code: string; message: string }[] {
  const rollouts = candidates.flatMap(({ trajectory }) =>
    isFinal(trajectory) ? [] : (trajectory.error ?? []),
  );
  return [...rollouts, ...failed];
}

/** A candidate with its question, as a file has it. */
export function sampleOf(task: Task, { id, ...candidate }: Candidate): Sample {
  return { id, task, ...candidate };
}

/** Shares equal texts between rows, to save memory: every parsed line has its own copy. */
function sharedTexts(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const copy = known.get(text);
    if (copy !== undefined) return copy;
    known.set(text, text);
    return text;
  };
}

const NO_SCORES = {};

function factsOf(
  task: Task,
  { id, trajectory, scores, provenance }: Candidate,
  shared: (text: string) => string,
): SampleFacts {
  const { type = null, hops = null } = task.annotations;
  const length = trajectory.turns.reduce((sum, { text }) => sum + text.length, 0);
  return {
    id,
    taskId: task.id,
    type: type === null ? null : shared(type),
    hops,
    draw: shared(provenance.draw.name),
    reward: trajectory.reward,
    scores: Object.keys(scores).length === 0 ? NO_SCORES : scores,
    length,
    searches: searchCount(trajectory),
  };
}

function choose(
  { settings, seed }: SelectionSetting,
  samples: readonly KeptSample[],
): { rows: readonly KeptSample[]; yields: StepYield[] } {
  const rows = new Map(samples.map((sample) => [sample.facts.id, sample]));
  let left: readonly SampleFacts[] = samples.map(({ facts }) => facts);
  const yields = settings.selection.map(({ name, ...options }, i) => {
    const selector = sampleSelectors.get(name, "synth.selection");
    const stream = random(seed).derive("selection", i, name);
    const { kept, dropped } = selector.select(left, options, stream);
    const counter = yieldCounter(name, "selection");
    counter.count(left.length, { dropped }, kept.length);
    left = kept;
    return { ...counter.row, questions: new Set(kept.map(({ taskId }) => taskId)).size };
  });
  return { rows: left.flatMap(({ id }) => rows.get(id) ?? []), yields };
}

/** The remaining draws of one question. */
export interface PipelineResult extends SampleGroup {
  pairs: PreferencePair[];
  dropped: { candidate: Candidate; by: string; reason: string }[];
}

/** A run's steps in order. */
interface Pipeline {
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
