import { z } from "../../base/schema.ts";
import { firstThought as askFirstThought } from "../first-thought.ts";
import { defineHint } from "./hint.ts";
import { begunThought } from "./hint-text.ts";

const options = z.strictObject({
  /** Begins a policy's thinking: put before it unless it begins with that. */
  thoughtOpening: z.string().default("<think>"),
});

/**
 * The policy is asked for a chain of thought without its tools, in a dialogue of its own; its first step begins the first message. A
 * policy that thinks nothing, or whose first step is already a whole message, gets no prefix.
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
