import { z } from "../../base/schema.ts";
import { rollOut } from "../roll-out.ts";
import { rollOutTree } from "../tree.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** Messages drawn at each turn that branches (paper: N = 8). */
  width: z.int().min(2).default(2),
  /** First turns at which the rollout branches (paper: D = 3); a rollout has at most width^depth leaves. */
  depth: z.int().min(1).default(2),
});

/** In training each rollout is a tree for the estimator `tree-sibling`; in an evaluation it is the agent's plain rollout. */
export const treeRollout = defineStrategy({
  name: "tree-rollout",
  summary: "In training a rollout branches at its first turns; each leaf is a trajectory.",
  source:
    "TreeRPO, arXiv 2506.05183: sampling as a tree. Different here: a segment is a turn, not a number of tokens",
  prompts: "grows",
  searches: true,
  options,
  leaves: ({ width, depth }) => width ** depth,
  run: (rollout) => rollOut(rollout),
  runAll: (rollout, shape) => rollOutTree(rollout, shape),
});
