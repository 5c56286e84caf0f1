import { z } from "../../base/schema.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import type { Action, Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { defineGate } from "./define-step.ts";
import { callsOf, mainTurns } from "./main-line.ts";

const options = z.strictObject({
  /** What a call that was answered by a problem (an unknown tool, a failed search) leads to. Empty queries always drop. */
  failedCalls: z.enum(["drop", "keep"]).default("drop"),
});

/** Holds the messages, what was asked for and what came back against each other. */
export const executed = defineGate({
  name: "executed",
  summary: "Drops what asks without being answered, or is shown what it did not ask for.",
  options,
  why({ trajectory }, _task, { protocol, settings }) {
    for (const turn of mainTurns(trajectory)) {
      const wrong =
        notAsWritten(turn, protocol) ?? notAnswered(turn, settings.failedCalls === "drop");
      if (wrong !== null) return wrong;
    }
    return notShown(trajectory);
  },
});

/** Whether a message asks for what its turn says that it asked for. */
function notAsWritten(turn: Turn, protocol: Protocol): string | null {
  const written = callsOf(protocol.parse(turn.text));
  const asked = callsOf(turn);
  // Messages of a strategy's own do not speak the protocol: it searches on their behalf.
  const speaks = protocol.parse(turn.text).actions.length > 0 || turn.problems.length > 0;
  if (!speaks) return null;
  if (written.some((call, i) => !isSame(call, asked[i]))) return "not executed";
  if (asked.length > written.length) return "not asked";
  const tags = protocol.tags.filter(({ holds }) => holds === "call");
  const openings = tags.map(({ name }) => turn.text.split(`</${name}>`).length - 1);
  return openings.reduce((sum, count) => sum + count, 0) > asked.length ? "not executed" : null;
}

function isSame(call: Action, other: Action | undefined): boolean {
  return call.tool === other?.tool && call.input === other.input;
}

/** Whether each call has what came back for it. */
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

/** Whether what came back stands before the next message, and nothing else does. */
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
    // A prompt that was built anew tells nothing apart.
    if (parent !== before.call) continue;
    const answered = before.observations.length > 0 || before.problems.length > 0;
    if (answered !== shown) return shown ? "not asked" : "not shown";
  }
  return null;
}
