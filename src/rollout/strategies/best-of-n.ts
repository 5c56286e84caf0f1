import { z } from "../../base/schema.ts";
import { requireLogprobs, withPrompts } from "../prompt-session.ts";
import { answerFromChain, chainPenalty, chainShape, extendChain } from "../retrieval-chain.ts";
import { voteOn } from "../votes.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  ...chainShape,
  /** Number of chains (paper: N). The first is greedy. */
  chains: z.int().min(1).default(4),
  /** Temperature of the queries of the other chains. */
  temperature: z.number().positive().default(0.7),
  /**
   * likelihood: the chain after which "nothing relevant found" is least likely; needs a policy that can score text. votes: every chain
   * answers, and the most frequent answer wins.
   */
  pick: z.enum(["likelihood", "votes"]).default("likelihood"),
});

/** @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS before the first request. */
export const bestOfN = defineStrategy({
  name: "best-of-n",
  summary: "CoRAG's best of N retrieval chains, chosen by likelihood or by votes.",
  source: "CoRAG, arXiv 2501.14342, section 3: best-of-N sampling; the votes are ours",
  prompts: "own",
  describesPrompts: true,
  searches: true,
  needs: ["searching", "answers"],
  options,
  example: { settings: { steps: 2, chains: 3 } },
  run: (rollout, { steps, chains, temperature, pick }) =>
    withPrompts(rollout, async (session) => {
      if (pick === "likelihood")
        requireLogprobs(rollout.policy, "Set evaluation.strategy.pick: votes.");
      const { question } = rollout.task;
      const names = Array.from({ length: chains }, (_, i) => `chain-${i + 1}`);
      const ends = await session.branches(names, async (branch, i) => {
        const sampling = { temperature: i === 0 ? 0 : temperature };
        const links = await extendChain(branch, [], { question, steps, sampling });
        return pick === "votes"
          ? { links, penalty: 0, answer: await answerFromChain(branch, question, links) }
          : { links, penalty: await chainPenalty(branch, question, links), answer: null };
      });
      if (pick === "votes") {
        const { answer, confidence } = voteOn(ends.map((end) => end.answer));
        session.trajectory.confidence = confidence;
        return answer;
      }
      const least = Math.min(...ends.map(({ penalty }) => penalty));
      const best = ends.find(({ penalty }) => penalty === least);
      return answerFromChain(session, question, best?.links ?? []);
    }),
});
