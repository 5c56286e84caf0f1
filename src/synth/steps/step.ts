import type { PartWithOptions } from "../../base/part-schema.ts";
import { parseOptions, type z } from "../../base/schema.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import type { Candidate, PreferencePair } from "../../trajectory/sample.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Segment } from "../../trajectory/trajectory.ts";

/** All that is left of one question's draws. */
export interface SampleGroup {
  task: Task;
  candidates: readonly Candidate[];
}

/** What a step made of a group. */
export interface StepResult {
  /** Those that go on: the same objects where nothing was changed, never changed in place. */
  kept: readonly Candidate[];
  /** Those that do not, with why: a few words from a fixed set, so that they can be counted. */
  dropped: readonly { id: string; reason: string }[];
  /** Ids of those among the kept that were mended. */
  mended?: readonly string[];
  /** Pairs made of the group. */
  pairs?: readonly Omit<PreferencePair, "task">[];
}

/** What steps read trajectories with. */
export interface StepResources {
  /** The grammar that messages are written in. */
  protocol: Protocol;
  tools: readonly ToolSchema[];
  /** What a segment says, whoever has its tokens. */
  textOf: (segment: Segment) => string;
  seed: number;
}

/** A step under way. It sees the groups one after another in the questions' order, and may remember what it saw. */
export interface OpenedStep {
  apply(group: SampleGroup): StepResult;
}

/**
 * A step of synthesis over the draws of one question: a gate, a filter, a repair, a weighing. A pure function of what was drawn, so
 * that it can be applied again without drawing again; what needs a model or a search is a scorer.
 */
export interface SynthStep extends PartWithOptions {
  /** What it does to samples, for lists and the table of yields. */
  readonly kind: "gate" | "filter" | "repair" | "weight" | "pairs";
  /** Where it is published, and what is different here. */
  readonly source?: string;
  /** @throws {ConfigError | DataError} when options name something that cannot be read. */
  open(options: Record<string, unknown>, resources: StepResources): Promise<OpenedStep>;
}

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
