import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/registry.ts";
import type { z } from "../../base/schema.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import { textSegment } from "../../rollout/draft.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { Candidate, PreferencePair } from "../../trajectory/sample.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Action, Segment, Trajectory, Turn } from "../../trajectory/trajectory.ts";

/** The remaining draws of one question. */
export type SampleGroup = { task: Task; candidates: readonly Candidate[] };

/** Result of a step on a group. */
export interface StepResult {
  /** The same objects if nothing changed; never modified in place. */
  kept: readonly Candidate[];
  /** Ids with the reason: a few words from a fixed set, to be counted. */
  dropped: readonly { id: string; reason: string }[];
  mended?: readonly string[];
  pairs?: readonly Omit<PreferencePair, "task">[];
}

/** What steps may use. */
export interface StepResources {
  protocol: Protocol;
  tools: readonly ToolSchema[];
  textOf: (segment: Segment) => string;
  /** A text as the teacher's own segments hold one: in its tokens, where they are known. @param isEnded an end token follows. */
  segmentOf: (owner: Segment["owner"], text: string, isEnded?: boolean) => Segment;
  seed: number;
}

/** Text and segments of a teacher. @param tokenizer null: its trajectories are text. */
export function teacherSegments(
  tokenizer: Tokenizer | null,
): Pick<StepResources, "textOf" | "segmentOf"> {
  return {
    textOf: ({ text, ids }) => text ?? tokenizer?.decode(ids) ?? "",
    segmentOf(owner, text, isEnded = false) {
      if (tokenizer === null) return textSegment(owner, text);
      const end = isEnded && tokenizer.endId !== null ? [tokenizer.endId] : [];
      return { owner, ids: [...tokenizer.encode(text), ...end], logprobs: null };
    },
  };
}

/** A step in a run. It gets the groups in the questions' order, and may remember them. */
export type OpenedStep = { apply(group: SampleGroup): StepResult };

/** A step of synthesis over the draws of one question: a pure function, which can run again. A part that needs a model is a scorer. */
export interface SynthStep extends PartWithOptions {
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

export type TextOf = (segment: Segment) => string;

/** The turns that led to the answer: no drafts, and no other chains. */
export function mainTurns({ turns }: Pick<Trajectory, "turns">): Turn[] {
  return turns.filter(({ chain }) => chain === undefined);
}

/** The tool calls of a message. */
export function callsOf({ actions }: Pick<Turn, "actions">): Action[] {
  return actions.filter(({ tool }) => tool !== "answer");
}

/** The policy's own text in a turn's message, without inserted text and EOS. */
export function policyText(trajectory: Trajectory, turn: Turn, textOf: TextOf): string {
  const { completion = [] } = trajectory.calls[turn.call] ?? {};
  const written = writtenText(trajectory, turn, textOf);
  const at = written.indexOf(turn.text);
  const behind = at < 0 ? 0 : written.length - at - turn.text.length;
  return completion
    .map((segment, i) => {
      if (segment.owner !== "policy") return "";
      const text = textOf(segment);
      return i === completion.length - 1 ? text.slice(0, text.length - behind) : text;
    })
    .filter((text) => text !== "")
    .join("\n");
}

/** The text of a message's segments, with inserted text and prefill. */
export function writtenText({ calls }: Trajectory, { call }: Turn, textOf: TextOf): string {
  const { prompt = [], completion = [] } = calls[call] ?? {};
  const openings = prompt.filter(({ owner }) => owner === "inserted");
  return [...openings, ...completion].map(textOf).join("");
}

/** The observations that the policy read after each turn of the main line, cut as in the next prompt; in full if that was rebuilt. */
export function shownAfter(trajectory: Trajectory, textOf: TextOf): string[] {
  const turns = mainTurns(trajectory);
  return turns.map(({ call, observations }, i) => {
    const next = trajectory.calls[turns[i + 1]?.call ?? -1];
    const shown =
      next?.parent === call ? next.prompt.filter(({ owner }) => owner === "environment") : [];
    return (shown.length > 0 ? shown.map(textOf) : observations.map(({ text }) => text)).join("\n");
  });
}

/** The passages that a strategy showed before the first message. */
export function shownBefore({ given = [] }: Pick<Trajectory, "given">): string {
  return given.map(({ text }) => text).join("\n");
}
