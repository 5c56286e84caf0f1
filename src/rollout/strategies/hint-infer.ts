import { partSchema } from "../../base/part-schema.ts";
import { z } from "../../base/schema.ts";
import { hintedTurns, hintsReadGold } from "../hints/hinted-turns.ts";
import { hints } from "../hints/index.ts";
import { rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** The hints, each by name, with the options of its part. */
  hints: z.array(partSchema(hints)).min(1).prefault(["before-answer"]),
});

/**
 * The agent's loop with hints inserted into the policy's messages: the text before a hint stays the policy's, and it continues after the
 * hint. A policy without prefill gets hints as replies.
 */
export const hintInfer = defineStrategy({
  name: "hint-infer",
  summary: "An agent steered by hints: by default, a hint to search before it answers.",
  source:
    "START, arXiv 2503.04625: Hint-infer; CoRT, arXiv 2506.09820: Hint-Engineering; with searches instead of code, and hints of our own",
  prompts: "grows",
  searches: true,
  readsGold: (settings) => hintsReadGold(settings.hints),
  options,
  run: (rollout, settings) =>
    rollOut(rollout, { playTurn: hintedTurns(settings.hints, rollout.seed) }),
});
