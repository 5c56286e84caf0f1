import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { playPart, type TurnPlace } from "../play-message.ts";
import { advance, rollOut } from "../roll-out.ts";
import { rollOutTree, type TreeShape } from "../tree.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** Messages drawn at each turn that branches (paper: N = 8). */
  width: z.int().min(2).default(2),
  /** First segments at which the rollout branches (paper: D = 3); a rollout has at most width^depth leaves. */
  depth: z.int().min(1).default(2),
  /** Tokens of a segment, after which a message branches in its midst (paper: 384); a segment is a turn when absent. */
  segmentTokens: z.int().min(1).optional(),
});

/** In training each rollout is a tree for the estimator `tree-sibling`; in an evaluation it is the agent's plain rollout. */
export const treeRollout = defineStrategy({
  name: "tree-rollout",
  summary: "In training a rollout branches at its first segments; each leaf is a trajectory.",
  source: "TreeRPO, arXiv 2506.05183: sampling as a tree",
  prompts: "grows",
  searches: true,
  options,
  leaves: ({ width, depth }) => width ** depth,
  run: (rollout) => rollOut(rollout),
  runAll(rollout, { segmentTokens: most, ...shape }) {
    if (most === undefined) return rollOutTree(rollout, shape);
    if ("open" in rollout.policy)
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        "strategy (tree-rollout).segmentTokens is set, and the policy is a chat server, whose messages cannot go on after a number of tokens. Leave it out, or load the policy here.",
      );
    const playTurn = (place: TurnPlace) => playPart(place, most);
    const play: TreeShape["play"] = (game, standing) =>
      advance({ ...game, variant: { ...game.variant, playTurn } }, standing);
    return rollOutTree(rollout, { ...shape, play });
  },
});
