import { parseOptions, type z } from "../../base/schema.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import type { Task } from "../../trajectory/task.ts";
import type { OpenedStep, StepResources, StepResult, SynthStep } from "./step.ts";

/** A step as its file writes it: options checked before they reach it. */
interface Described<S extends z.ZodObject> extends Omit<SynthStep, "options" | "open"> {
  options: S;
  open: (settings: z.output<S>, resources: StepResources) => OpenedStep | Promise<OpenedStep>;
}

/** A step whose options are checked by its own schema. */
export function defineStep<S extends z.ZodObject>(described: Described<S>): SynthStep {
  const { name, options, open } = described;
  return {
    ...described,
    open: async (given, resources) => open(parseOptions(options, given, name), resources),
  };
}

/** A gate as its file writes it: it looks at one candidate at a time. */
interface DescribedGate<S extends z.ZodObject> extends Omit<Described<S>, "kind" | "open"> {
  kind?: "gate" | "filter";
  /** Why a candidate may not pass; null: it may. */
  why: (candidate: Candidate, task: Task, tools: GateTools<S>) => string | null;
}

interface GateTools<S extends z.ZodObject> extends StepResources {
  settings: z.output<S>;
}

/** A step that lets each candidate pass or not, by itself. */
export function defineGate<S extends z.ZodObject>({
  why,
  kind = "gate",
  ...part
}: DescribedGate<S>): SynthStep {
  return defineStep({
    ...{ ...part, kind },
    open: (settings, resources) => ({
      apply: ({ task, candidates }) =>
        sortedOut(candidates, (candidate) => why(candidate, task, { ...resources, settings })),
    }),
  });
}

/** Candidates that stay and those that do not, by what is said against each. */
export function sortedOut(
  candidates: readonly Candidate[],
  why: (candidate: Candidate) => string | null,
): Pick<StepResult, "dropped"> & { kept: Candidate[] } {
  const kept: Candidate[] = [];
  const dropped: { id: string; reason: string }[] = [];
  for (const candidate of candidates) {
    const reason = why(candidate);
    if (reason === null) kept.push(candidate);
    else dropped.push({ id: candidate.id, reason });
  }
  return { kept, dropped };
}
