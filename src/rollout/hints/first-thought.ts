import { z } from "../../base/schema.ts";
import { firstThought as askFirstThought } from "../first-thought.ts";
import { defineHint } from "./hint.ts";
import { begunThought } from "./hint-text.ts";

const options = z.strictObject({
  /** Opening of a policy's thinking: added unless the text starts with it. */
  thoughtOpening: z.string().default("<think>"),
});

/**
 * The policy writes a chain of thought without its tools, in a separate dialogue; its first step is the prefill of the first message.
 * Without a thought, or if the first step is already a whole message, there is no prefill.
 */
export const firstThought = defineHint({
  name: "first-thought",
  summary: "The first message begins with the first step of the policy's own chain of thought.",
  where: "at the beginning of the first message",
  source:
    "Agent Distillation, arXiv 2505.17612: first-thought prefix; over searches instead of code",
  options,
  open: ({ thoughtOpening }) => ({
    async opening({ turn, options: rollout, trajectory }) {
      if (turn > 0) return null;
      const thought = await askFirstThought(rollout, trajectory);
      if (thought === null || thought === "") return null;
      const begun = begunThought(thought, thoughtOpening);
      return rollout.environment.protocol.findCut(begun) === null ? begun : null;
    },
  }),
});
