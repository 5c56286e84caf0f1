/**
 * PPO: proximal policy optimisation with a critic (arXiv 1707.06347), for language-model agents.
 *
 * Each step: rollouts; values of every state by the critic; advantages by GAE (`gamma`, `lambda`, over tokens or turns: `timeAxis`), whitened;
 * the clipped loss for the policy and the clipped value loss for the critic, on the same minibatches.
 * - verl's and Search-R1's runs: critic own, γ = λ = 1, klReward .001, clip .2, values clipped at .5; Search-R1 computes timeAxis
 *   all-tokens, Agent-R1 policy-tokens
 * - RAGEN (arXiv 2504.20073): timeAxis turns-then-tokens, clipHigh .28
 * - RL4LMs, SmartRAG: critic shared with coef .5, γ .99, λ .95, klReward with a target
 * Changes: groups need no size above 1, so `groupSize` defaults to 1 as in these runs; a new critic says 0 for every state.
 *
 * Run: agentrl train --recipe search-r1 --set algorithm.name=ppo
 */
import { gaeShape } from "../advantages/gae.ts";
import { fixed } from "../base/schedule.ts";
import { z } from "../base/schema.ts";
import { allIgnoredWhen, isSet } from "../base/setting-effect.ts";
import { policyGradientShape, policyGradientSpec } from "../losses/policy-gradient.ts";
import { onPolicyShape, defineAlgorithm, ownLossShape } from "./algorithm.ts";
import { criticSetting } from "./critic.ts";

const options = z.strictObject({
  ...onPolicyShape,
  promptsPerStep: fixed(z.int().min(1).default(128)),
  groupSize: fixed(z.int().min(1).default(1)),
  ...allIgnoredWhen(gaeShape, { advantage: isSet }, "Make it an option of that estimator"),
  critic: criticSetting,
  ...ownLossShape({
    ...policyGradientShape,
    /** Weight of KL(policy ‖ reference) in the loss; 0 keeps no reference. `klReward` puts it into the reward. */
    klCoef: z.number().nonnegative().default(0),
  }),
});

export const ppo = defineAlgorithm({
  name: "ppo",
  summary: "Proximal policy optimisation with a critic: GAE over tokens or turns, clipped values.",
  source: "PPO, arXiv 1707.06347; GAE, arXiv 1506.02438",
  options,
  critic: ({ critic }) => critic,
  estimator: ({ gamma, lambda, timeAxis, turnGamma, whiten }) => {
    return { name: "gae", options: { gamma, lambda, timeAxis, turnGamma, whiten } };
  },
  losses: (settings) => [policyGradientSpec(settings)],
});
