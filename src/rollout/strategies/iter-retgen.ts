import { requirePrompt } from "../../env/environments/environment.ts";
import { z } from "../../base/schema.ts";
import { withPrompts } from "../prompt-session.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** Searches, each followed by an answer. */
  iterations: z.int().min(1).default(2),
});

/** A search and an answer from its passages, again with question and last answer as query. Prompts are those of `rag`. */
export const iterRetgen = defineStrategy({
  name: "iter-retgen",
  summary: "Iter-RetGen: search and answer in turn; the last answer is part of the next query.",
  source:
    "Shao et al., arXiv 2305.15294. Different here: the policy answers at once, without a chain of thought, and without examples",
  prompts: "own",
  searches: true,
  needs: ["searching", "context", "answers"],
  options,
  example: { settings: { iterations: 2 } },
  run: (rollout, { iterations }) =>
    withPrompts(rollout, async (session) => {
      const { environment, task } = rollout;
      const promptOf = requirePrompt(environment);
      let answer: string | null = null;
      for (let round = 0; round < iterations; round++) {
        const query = answer === null ? task.question : `${task.question} ${answer}`;
        const found = await session.search(query, null);
        answer = await session.answer(promptOf(task, environment.protocol.renderContext(found)));
      }
      return answer;
    }),
});
