import { z } from "../../base/schema.ts";
import { withPrompts } from "../prompt-session.ts";
import { defineStrategy } from "./strategy.ts";

/** Two messages: thoughts, then a forced answer. If the policy already answers in its thoughts, that answer counts. */
export const cot = defineStrategy({
  name: "cot",
  summary: "Chain of thought: no search; the policy thinks step by step, then answers.",
  source:
    "Wei et al., arXiv 2201.11903; in two messages as in Kojima et al., arXiv 2205.11916, without examples",
  prompts: "own",
  searches: false,
  needs: ["answers"],
  options: z.strictObject({}),
  run: (options) =>
    withPrompts(options, async (session) => {
      const prompt = [
        "Think about the question step by step, from what you know: nothing can be looked up.",
        `Question: ${options.task.question}`,
        "Thoughts:",
      ].join("\n");
      const thoughts = await session.ask(prompt);
      if (thoughts === null) return null;
      const text = thoughts.text.trim();
      return session.answerIn(text) ?? session.answer(`${prompt} ${text}\n`);
    }),
});
