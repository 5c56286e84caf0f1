import type { PartWithOptions } from "../../base/part-schema.ts";
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
