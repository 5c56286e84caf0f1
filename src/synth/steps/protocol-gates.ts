import { z } from "../../base/schema.ts";
import { type Protocol, answerIn, closingPattern } from "../../env/protocols/protocol.ts";
import type { Action, Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { pairedTags } from "./paired-tags.ts";
import { callsOf, defineGate, mainTurns, writtenText } from "./step.ts";

/** By the protocol's parse and, more strictly, its tags: paired, not nested, nothing after the action, no observations, text as its tokens. */
export const format = defineGate({
  name: "format",
  summary:
    "Drops messages that break the protocol: broken tags, text after the answer, faked observations.",
  source:
    "Tool-Star, arXiv 2505.16410: its format reward, as a gate; the checks of faked observations and misspelt tags are ours",
  options: z.strictObject({
    /** Whether each message must have a thought, in the protocol's tags, before its action. */
    thought: z.enum(["required", "optional"]).default("optional"),
  }),
  why({ trajectory }, _task, { protocol, settings, textOf }) {
    const turns = mainTurns(trajectory);
    if (turns.length === 0) return "no message";
    for (const turn of turns) {
      const wrong = wrongInMessage(turn, protocol, settings.thought === "required");
      if (wrong !== null) return wrong;
      // Training uses the segments, so they must have the same text.
      if (!writtenText(trajectory, turn, textOf).includes(turn.text)) return "another text";
    }
    return wrongAnswers(trajectory, turns, protocol);
  },
});

function wrongAnswers(
  { answer }: Trajectory,
  turns: readonly Turn[],
  protocol: Protocol,
): string | null {
  const places = turns.flatMap(({ text }, i) =>
    protocol.parse(text).actions.flatMap(({ tool }) => (tool === "answer" ? [i] : [])),
  );
  if (places.length === 0) return "no answer";
  if (places.length > 1) return "several answers";
  if (places[0] !== turns.length - 1) return "text after the answer";
  const messages = turns.map(({ text }) => text);
  const read = answerIn(protocol, { prompt: "", messages });
  return read === answer ? null : "another answer";
}

function wrongInMessage(
  { text, problems }: Turn,
  protocol: Protocol,
  mustThink: boolean,
): string | null {
  const found = pairedTags(text, protocol.tags);
  if (typeof found === "string") return found;
  const parsed = protocol.parse(text);
  if (problems.length > 0 || parsed.problems.length > 0) return "no valid action";
  const calls = found.filter(({ holds }) => holds === "call");
  const answers = found.filter(({ holds }) => holds === "answer");
  // Where the grammar ends no message at an answer, as at a box, the last one counts, and none beside a call.
  const goesOn =
    answers[0] !== undefined && protocol.findCut(text.slice(0, answers[0].end)) === null;
  if (answers.length > 1 && !goesOn) return "several answers";
  const isCall = calls.length > 0;
  const acts = goesOn ? (isCall ? calls : answers.slice(-1)) : [...calls, ...answers];
  if (acts.length !== parsed.actions.length) return "more than was read";
  const end = Math.max(...found.map((tag) => tag.end));
  if ((isCall || !goesOn) && text.slice(end).trim() !== "") return "text after the action";
  const first = found[0];
  if (first !== undefined && acts[0] !== undefined && found.at(-1)?.holds === "thought")
    return "text after the action";
  return mustThink && first?.holds !== "thought" ? "no thought" : null;
}

/** Compares the messages with their calls and observations. */
export const executed = defineGate({
  name: "executed",
  summary: "Drops trajectories with calls that were not executed, or observations without a call.",
  options: z.strictObject({
    /** Decision for a failed call (an unknown tool, a failed search). Empty queries are always dropped. */
    failedCalls: z.enum(["drop", "keep"]).default("drop"),
  }),
  why({ trajectory }, _task, { protocol, settings }) {
    for (const turn of mainTurns(trajectory)) {
      const wrong =
        notAsWritten(turn, protocol) ?? notAnswered(turn, settings.failedCalls === "drop");
      if (wrong !== null) return wrong;
    }
    return notShown(trajectory);
  },
});

function notAsWritten(turn: Turn, protocol: Protocol): string | null {
  const written = callsOf(protocol.parse(turn.text));
  const asked = callsOf(turn);
  // A strategy's own messages do not follow the protocol: the strategy searches for them.
  const speaks = protocol.parse(turn.text).actions.length > 0 || turn.problems.length > 0;
  if (!speaks) return null;
  const isOther = ({ tool, input }: Action, i: number): boolean =>
    tool !== asked[i]?.tool || input !== asked[i].input;
  if (written.some(isOther)) return "not executed";
  if (asked.length > written.length) return "not asked";
  const tags = protocol.tags.filter(({ holds }) => holds === "call");
  const closed = tags.flatMap((tag) => [
    ...turn.text.matchAll(new RegExp(closingPattern(tag), "g")),
  ]);
  return closed.length > asked.length ? "not executed" : null;
}

function notAnswered(turn: Turn, dropFailed: boolean): string | null {
  const calls = callsOf(turn);
  const { observations } = turn;
  if (calls.some(({ input }) => input.trim() === "")) return "empty query";
  if (observations.some(({ problem }) => problem?.code === "empty-query")) return "empty query";
  if (observations.length < calls.length) return "not executed";
  if (observations.length > calls.length) return "not asked";
  if (observations.some(({ tool }, i) => tool !== calls[i]?.tool)) return "not executed";
  return dropFailed && observations.some(({ problem }) => problem !== undefined)
    ? "failed call"
    : null;
}

function notShown(trajectory: Trajectory): string | null {
  const turns = mainTurns(trajectory);
  for (const [i, { call }] of turns.entries()) {
    const { parent = null, prompt = [] } = trajectory.calls[call] ?? {};
    const shown = prompt.some(({ owner }) => owner === "environment");
    const before = turns[i - 1];
    if (before === undefined) {
      if (shown && parent === null) return "not asked";
      continue;
    }
    // A rebuilt prompt does not separate the observations.
    if (parent !== before.call) continue;
    const answered = before.observations.length > 0 || before.problems.length > 0;
    if (answered !== shown) return shown ? "not asked" : "not shown";
  }
  return null;
}
