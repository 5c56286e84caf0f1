import { z } from "../../base/schema.ts";
import { defineGate } from "./define-step.ts";
import { callsOf, mainTurns } from "./main-line.ts";

const options = z
  .strictObject({
    /** Calls of tools on the way to the answer. */
    atLeast: z.int().min(0).default(1),
    atMost: z.int().min(0).optional(),
  })
  .refine(({ atLeast, atMost }) => atMost === undefined || atLeast <= atMost, {
    path: ["atMost"],
    message: "expected no less than atLeast",
  });

export const searched = defineGate({
  name: "searched",
  summary: "Drops what searched too little, or not at all, or too often on the way to its answer.",
  options,
  why({ trajectory }, _task, { settings: { atLeast, atMost = Infinity } }) {
    const calls = mainTurns(trajectory).reduce((sum, turn) => sum + callsOf(turn).length, 0);
    if (calls < atLeast) return calls === 0 ? "no search" : "too few searches";
    return calls > atMost ? "too many searches" : null;
  },
});
