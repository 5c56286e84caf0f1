import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { withPrompts } from "../prompt-session.ts";
import { answerFromChain, chainShape, extendChain, tellsReference } from "../retrieval-chain.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  ...chainShape,
  /** Each chain draws its length from 1 to `steps`, all alike, as the paper's synthesis does (with 5 steps). */
  randomLength: z.boolean().optional(),
  /**
   * Ends a chain whose last sub-answer is a reference, or after which a reference has a higher mean log-probability per token than this, in nats
   * (the paper's synthesis: -0.05). It reads the gold.
   */
  enough: z.number().max(0).optional(),
});

export const corag = defineStrategy({
  name: "corag",
  summary: "CoRAG: one chain of sub-questions, each looked up and answered, then the answer.",
  source: "CoRAG, arXiv 2501.14342, section 3: greedy decoding, and chains of its synthesis",
  prompts: "own",
  describesPrompts: true,
  searches: true,
  needs: ["searching", "answers"],
  options,
  readsGold: ({ enough }) => enough !== undefined,
  example: { settings: { steps: 3 } },
  run: (rollout, { steps: longest, randomLength, enough }) =>
    withPrompts(rollout, async (session) => {
      const { task, seed } = rollout;
      const { question } = task;
      const drawn = 1 + random(seed).derive("chain length").int(longest);
      const steps = randomLength === true ? drawn : longest;
      const links = await extendChain(session, [], {
        question,
        steps,
        isEnough:
          enough === undefined
            ? undefined
            : (chain) => tellsReference(session, task, chain, enough),
      });
      return answerFromChain(session, question, links);
    }),
});
