import { definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/part-members.ts";
import type { PartWithOptions } from "../../base/part-schema.ts";
import type { z } from "../../base/schema.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import type { Candidate, PreferencePair } from "../../trajectory/sample.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Segment } from "../../trajectory/trajectory.ts";

/** The remaining draws of one question. */
export type SampleGroup = { task: Task; candidates: readonly Candidate[] };

/** Result of a step on a group. */
export interface StepResult {
  /** The same objects if nothing changed; never modified in place. */
  kept: readonly Candidate[];
  /** Ids with the reason: a few words from a fixed set, to be counted. */
  dropped: readonly { id: string; reason: string }[];
  /** Ids of kept candidates that were repaired. */
  mended?: readonly string[];
  /** Pairs made from the group. */
  pairs?: readonly Omit<PreferencePair, "task">[];
}

/** What steps may use. */
export interface StepResources {
  protocol: Protocol;
  tools: readonly ToolSchema[];
  textOf: (segment: Segment) => string;
  seed: number;
}

/** A step in a run. It gets the groups in the questions' order, and may remember them. */
export interface OpenedStep {
  apply(group: SampleGroup): StepResult;
}

/** A step of synthesis over the draws of one question: a pure function, which can run again. A part that needs a model is a scorer. */
export interface SynthStep extends PartWithOptions {
  /** For lists and the table of yields. */
  readonly kind: "gate" | "filter" | "repair" | "weight" | "pairs";
  /** Its publication, and the differences here. */
  readonly source?: string;
  /** @throws {ConfigError | DataError} when a file of an option cannot be read. */
  open(options: object, resources: StepResources): Promise<OpenedStep>;
}

/** Makes a step. @throws {ConfigError} PLUGIN_BAD_PART without open. */
export const defineStep = definer<SynthStep>()("synthesis step", {
  defaults: { kind: "filter" },
  functions: {
    open: {
      at: 0,
      async: true,
      returned(step: OpenedStep, { what }): OpenedStep {
        requireReturned(what, step, { apply: "function" });
        return {
          apply(group) {
            const result = step.apply(group);
            requireReturned(`${what}: apply`, result, { kept: "list", dropped: "list" });
            return result;
          },
        };
      },
    },
  },
});

/** A gate as its file defines it: it judges one candidate at a time. */
interface DescribedGate<S extends z.ZodObject> extends Pick<
  SynthStep,
  "name" | "summary" | "source"
> {
  options?: S;
  kind?: "gate" | "filter";
  /** Reason to drop a candidate; null: keep it. */
  why: (candidate: Candidate, task: Task, tools: GateTools<S>) => string | null;
}

interface GateTools<S extends z.ZodObject> extends StepResources {
  settings: z.output<S>;
}

/** A step that keeps or drops each candidate independently. */
export function defineGate<S extends z.ZodObject>({
  why,
  kind = "gate",
  ...part
}: DescribedGate<S>): SynthStep {
  return defineStep({
    ...part,
    kind,
    open: (settings, resources) => ({
      apply: ({ task, candidates }) =>
        sortedOut(candidates, (candidate) => why(candidate, task, { ...resources, settings })),
    }),
  });
}

/** Splits candidates into kept and dropped. */
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
