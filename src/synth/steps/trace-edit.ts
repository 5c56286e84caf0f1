import { ConfigError } from "../../base/errors.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import { sentenceSpans } from "../../text/sentence-spans.ts";
import type { Candidate, PreferencePair } from "../../trajectory/sample.ts";
import type { Task } from "../../trajectory/task.ts";
import type { CallFinish, Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { type StepResources, defineStep, mainTurns } from "./step.ts";

/** A message that thinks and then answers, in parts. */
export interface TraceParts {
  /** What opens the thought; empty where the grammar has no tags for thoughts. */
  opening: string;
  /** The thought, sentence by sentence, each with the space before it. */
  sentences: string[];
  /** What closes the thought. */
  closing: string;
  /** The answer, and what follows it. */
  answer: string;
}

/** @example "<think> 2 + 3 = 5. Wait.</think><answer> 5</answer>" → "<think>", [" 2 + 3 = 5.", " Wait."], "</think>", "<answer> 5</answer>" */
export function traceParts(
  text: string,
  { tags, answerOpening }: Pick<Protocol, "tags" | "answerOpening">,
): TraceParts {
  const tag = tags.find(({ holds }) => holds === "thought");
  const answerAt = text.lastIndexOf(answerOpening);
  const before = answerAt < 0 ? text : text.slice(0, answerAt);
  const from = tag !== undefined && before.startsWith(tag.opening) ? tag.opening.length : 0;
  const closedAt = tag === undefined || from === 0 ? -1 : before.indexOf(tag.closing, from);
  const thought = before.slice(from, closedAt < 0 ? undefined : closedAt);
  const ends = sentenceSpans(thought).map(([, to]) => to);
  return {
    opening: before.slice(0, from),
    sentences: ends.map((to, i) => thought.slice(ends[i - 1] ?? 0, to)),
    closing: thought.slice(ends.at(-1) ?? 0) + (from > 0 ? (tag?.closing ?? "") : ""),
    answer: answerAt < 0 ? "" : text.slice(answerAt),
  };
}

/** The only message of a trajectory, where it called no tool; else null: its text is what an edit changes. */
export function soleMessage(trajectory: Trajectory): Turn | null {
  const [turn, ...more] = mainTurns(trajectory);
  const isAlone = more.length === 0 && trajectory.calls.length === 1;
  return turn !== undefined && isAlone && turn.observations.length === 0 ? turn : null;
}

/** The name of the score that says whether a sentence stays, by its number from 0. */
export const keptScore = (sentence: number): string => `kept-${sentence}`;

/**
 * Shortens traces as the scorer `trace-value` found, and pairs each with its original, for preference training. A trace that it did not
 * finalise stays as it is, without a pair. The answer is the trace's own where that is right, else the first reference.
 *
 * Source: DTO, arXiv 2505.21765. Different here: see `trace-value`.
 */
export const traceEdit = defineStep({
  name: "trace-edit",
  summary: "Shortens traces as trace-value found, and pairs each with its original.",
  kind: "repair",
  source: "DTO, arXiv 2505.21765: chosen the optimised trace, rejected the original",
  open: (_options, resources) => ({
    apply({ task, candidates }) {
      const pairs: Omit<PreferencePair, "task">[] = [];
      const kept = candidates.map((candidate) => {
        const edited = withEdit(candidate, resources, task);
        if (edited === null) return candidate;
        const margin =
          (candidate.scores["original-tokens"] ?? 0) - (candidate.scores["edited-tokens"] ?? 0);
        const chosen = { ...edited, id: `${candidate.id}-edited` };
        pairs.push({ id: `${chosen.id}>${candidate.id}`, chosen, rejected: candidate, margin });
        return edited;
      });
      const mended = kept.filter((each, i) => each !== candidates[i]).map(({ id }) => id);
      return { kept, dropped: [], mended, pairs };
    },
  }),
});

/** @returns null where nothing changes. @throws {ConfigError} RECIPE_BAD_VALUE without the scores of `trace-value`. */
function withEdit(
  candidate: Candidate,
  { protocol, tools, segmentOf }: StepResources,
  { references: [reference = ""] }: Task,
): Candidate | null {
  const { trajectory, scores, id } = candidate;
  const turn = soleMessage(trajectory);
  if (turn === null) return null;
  if (scores["original-tokens"] === undefined) {
    const message = `synth.steps (trace-edit): the draw ${id} has no score "original-tokens". Add trace-value to synth.scores, and draw again.`;
    throw new ConfigError("RECIPE_BAD_VALUE", message);
  }
  const { opening, sentences, closing, answer } = traceParts(turn.text, protocol);
  if (scores[keptScore(0)] === undefined) return null;
  const left = sentences.filter((_, i) => scores[keptScore(i)] === 1);
  const isRight = scores["original-right"] === 1 && trajectory.answer !== null;
  const action = { tool: "answer", input: isRight ? (trajectory.answer ?? "") : reference };
  const written = isRight ? answer : protocol.write({ thought: "", action }, tools);
  const text = opening + left.join("") + closing + written;
  if (text === turn.text) return null;
  // Where no grammar cuts the message, the writer ends it.
  const finish: CallFinish = protocol.findCut(text) === null ? "eos" : "stop";
  const edited: Trajectory = {
    ...trajectory,
    answer: action.input,
    end: "answered",
    calls: trajectory.calls.map((call) => ({
      ...call,
      finish,
      completion: [segmentOf("policy", text, finish === "eos")],
    })),
    turns: trajectory.turns.map((each) =>
      each === turn ? { ...each, text, actions: [action], problems: [] } : each,
    ),
  };
  return { ...candidate, trajectory: edited };
}
