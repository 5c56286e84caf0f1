import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { Policy } from "../policy.ts";
import { rollOut } from "../roll-out.ts";
import { rollOutTree } from "../tree.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** Messages drawn where it branches (the code's beam size). */
  width: z.int().min(2).default(2),
  /** Most branchings on the way to a leaf; a rollout has at most width^branchings leaves. */
  branchings: z.int().min(1).default(1),
  /** α, the probability of a branching where a message is as sure as the first one. */
  probability: z.number().min(0).max(1).default(0.5),
  /** β, what the probability rises by for each unit of entropy more. */
  weight: z.number().default(0.2),
  /** First tokens of a message whose entropies are summed. */
  tokens: z.int().min(1).default(20),
});

/**
 * In training a rollout branches after tools answered, the more likely the less sure the message began that called them: with probability
 * α + β · (H_t − H_1), where H is the sum of the entropies of a message's first tokens over ln of the vocabulary's size. In an evaluation it is
 * the agent's plain rollout.
 *
 * Source: ARPO, arXiv 2507.19849; dongguanting/ARPO, vllm_rollout_with_tools.py. Different here: −log-probability of each sampled token stands
 * for its entropy, of which it is an estimate (the code sums over the ten likeliest tokens); a rollout branches a number of times, where the code
 * counts leaves a question, and fills up what is missing with fresh rollouts. A server that keeps its tokens branches with probability α.
 */
export const entropyBranching = defineStrategy({
  name: "entropy-branching",
  summary:
    "In training a rollout branches after a tool's answer where the policy is unsure (ARPO).",
  source: "ARPO, arXiv 2507.19849",
  prompts: "grows",
  searches: true,
  options,
  leaves: ({ width, branchings }) => width ** branchings,
  run: (rollout) => rollOut(rollout),
  runAll(rollout, { width, branchings, probability, weight, tokens }) {
    const entropy = (played: Trajectory, turn: number): number =>
      entropyOfStart(played, turn, tokens) / logVocabulary(rollout.policy);
    const widthAt = (played: Trajectory): number => {
      const last = played.turns.length - 1;
      if ((played.turns[last]?.observations.length ?? 0) === 0) return 1;
      const chance = probability + weight * (entropy(played, last) - entropy(played, 0));
      return random(played.seed).derive("branches", last).next() < chance ? width : 1;
    };
    return rollOutTree(rollout, { width: widthAt, depth: branchings });
  },
});

/** Sum of −log-probability over the first sampled tokens of a turn's message; 0 where they are not on record. */
function entropyOfStart({ turns, calls }: Trajectory, turn: number, tokens: number): number {
  const completion = calls[turns[turn]?.call ?? -1]?.completion ?? [];
  const sampled = completion.flatMap(({ logprobs }) => logprobs ?? []);
  return sampled.slice(0, tokens).reduce((sum, each) => sum - each, 0);
}

function logVocabulary(policy: Policy): number {
  return "open" in policy ? 1 : Math.log(policy.tokenizer.vocabSize);
}
