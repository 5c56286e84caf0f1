import { z } from "../../base/schema.ts";
import { withPrompts } from "../prompt-session.ts";
import { answerFromChain, chainShape, extendChain } from "../retrieval-chain.ts";
import { defineStrategy } from "./strategy.ts";

export const corag = defineStrategy({
  name: "corag",
  summary: "CoRAG: one chain of sub-questions, each looked up and answered, then the answer.",
  source: "CoRAG, arXiv 2501.14342, section 3: greedy decoding",
  prompts: "own",
  describesPrompts: true,
  searches: true,
  needs: ["searching", "answers"],
  options: z.strictObject(chainShape),
  example: { settings: { steps: 3 } },
  run: (rollout, { steps }) =>
    withPrompts(rollout, async (session) => {
      const { question } = rollout.task;
      const links = await extendChain(session, [], { question, steps });
      return answerFromChain(session, question, links);
    }),
});
