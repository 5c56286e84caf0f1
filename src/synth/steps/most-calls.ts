import { z } from "../../base/schema.ts";
import { defineGate } from "./define-step.ts";
import { callsOf, mainTurns } from "./main-line.ts";

export const mostCalls = defineGate({
  name: "most-calls",
  kind: "filter",
  summary: "Drops what called its tools more than a number of times.",
  source: "Tool-Star, arXiv 2505.16410: quality normalisation, more than 5 calls",
  options: z.strictObject({
    /** Calls on the way to the answer. */
    calls: z.int().min(0).default(5),
  }),
  why({ trajectory }, _task, { settings }) {
    const calls = mainTurns(trajectory).reduce((sum, turn) => sum + callsOf(turn).length, 0);
    return calls > settings.calls ? "too many calls" : null;
  },
});
