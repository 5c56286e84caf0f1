import { defineReward } from "./reward.ts";

/**
 * The rewards that the environment gave, each at its turn; 0 where it gave none. For worlds that know how well they were played: games,
 * shops, dialogues.
 *
 * Source: the return of RAGEN (arXiv 2504.20073), WebShop (arXiv 2207.01206) and AgentBench (arXiv 2308.03688).
 */
export const environment = defineReward({
  name: "environment",
  summary: "What the environment gave for each turn.",
  metric: "return",
  placed: true,
  source: "arXiv 2504.20073, 2207.01206, 2308.03688: rewards of the environment",
  score: ({ trajectory }) =>
    trajectory.turns.flatMap(({ reward }, turn) =>
      reward === undefined ? [] : [{ turn, value: reward }],
    ),
});
