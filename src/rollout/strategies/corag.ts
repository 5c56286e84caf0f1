import { z } from "../../base/schema.ts";
import { inquire } from "../inquiry.ts";
import { answerFromChain, chainShape, extendChain } from "../retrieval-chain.ts";
import { defineStrategy } from "./strategy.ts";

export const corag = defineStrategy({
  name: "corag",
  summary: "CoRAG: one chain of sub-questions, each looked up and answered, then the answer.",
  source: "CoRAG, arXiv 2501.14342, section 3: greedy decoding",
  prompts: "own",
  searches: true,
  needs: ["searching", "answers"],
  options: z.strictObject(chainShape),
  example: { settings: { steps: 3 } },
  run: (rollout, { steps }) =>
    inquire(rollout, async (inquiry) => {
      const { question } = rollout.task;
      const links = await extendChain(inquiry, [], { question, steps });
      return answerFromChain(inquiry, question, links);
    }),
});
