import { ConfigError } from "../base/errors.ts";
import { z } from "../base/schema.ts";
import { mean } from "../base/statistics.ts";
import { netReward } from "./credit.ts";
import { allEqual, defineEstimator, type Rewarded, sampleDeviation } from "./estimator.ts";

const options = z.strictObject({
  /** Divide by the siblings' deviation, by √(mean · (1 − mean)) for rewards from 0 to 1, or only subtract their mean. */
  scale: z.enum(["group", "bernoulli", "none"]).default("group"),
  /** Siblings whose values deviate by no more than this teach nothing (paper: τ = .1). */
  minDeviation: z.number().nonnegative().default(0),
  /** Added to the deviation. */
  epsilon: z.number().positive().default(1e-6),
});

/**
 * For rollouts that branch. A node is a call; its value is the mean of its children's values, a leaf's its reward. The tokens of a call
 * get its value against those of its siblings, the calls that begin at the same place; an only child continues its parent's segment and
 * gets its advantage. The first calls of a group are siblings, so without branches this is the estimator `group`.
 *
 * Values of inner nodes are means, so a small deviation among them would be blown up: hence `minDeviation` and scale "bernoulli", whose
 * divisor does not shrink with the width.
 *
 * Source: TreeRPO, arXiv 2506.05183. Different here: the deviation is the sample deviation (n − 1), and τ is compared with it, as the
 * paper's own normaliser and the quantity that τ bounds are not known to us.
 *
 * @example a root with leaves 1 and 0 and a root with leaves 0 and 0, scale none: roots ±.25, the first's leaves ±.5, the second's 0
 */
export const treeSibling = defineEstimator({
  name: "tree-sibling",
  summary: "Each segment of a branching rollout against its siblings, by the mean of its leaves.",
  source: "TreeRPO, arXiv 2506.05183",
  needsGroups: true,
  options,
  estimate(trajectories, { scale, epsilon, minDeviation }) {
    const { paths, roots } = treesOf(trajectories);
    for (const siblings of roots.values()) {
      giveAdvantages(siblings, 0, (value, values) => {
        const [centre, deviation] = [mean(values), sampleDeviation(values)];
        if (deviation <= minDeviation) return 0;
        if (scale === "none") return value - centre;
        const by = scale === "group" ? deviation : bernoulliDeviation(centre);
        return (value - centre) / (by + epsilon);
      });
    }
    return trajectories.map(({ tokens }, i) =>
      tokens.call.map((call) => paths[i]?.[call]?.advantage ?? 0),
    );
  },
});

/** Deviation of a reward that is 1 so often. @throws {ConfigError} REWARD_FAILED where the mean is not one of rewards from 0 to 1. */
function bernoulliDeviation(share: number): number {
  if (share < 0 || share > 1)
    throw new ConfigError(
      "REWARD_FAILED",
      `algorithm.advantage tree-sibling: scale is bernoulli, and siblings have a mean reward of ${share}; expected rewards from 0 to 1. Take scale group, or other rewards.`,
    );
  return Math.sqrt(share * (1 - share));
}

interface Node {
  children: Node[];
  /** Of a leaf. */
  reward: number | null;
  advantage: number;
}

/** The calls of all trajectories as trees. @returns each trajectory's nodes by call, and the roots of each group. */
function treesOf(trajectories: readonly Rewarded[]): {
  paths: Node[][];
  roots: Map<string, Node[]>;
} {
  const roots = new Map<string, Node[]>();
  const paths: Node[][] = [];
  const pathOf = (index: number): Node[] => {
    const known = paths[index];
    if (known !== undefined) return known;
    const { tokens, branch, groupId } = trajectories[index]!;
    const calls = tokens.call.reduce((most, call) => Math.max(most, call + 1), 0);
    const path = branch === null ? [] : pathOf(branch.of).slice(0, branch.calls);
    while (path.length < calls) {
      const node: Node = { children: [], reward: null, advantage: 0 };
      const siblings = path.at(-1)?.children ?? roots.get(groupId) ?? [];
      if (path.length === 0) roots.set(groupId, siblings);
      siblings.push(node);
      path.push(node);
    }
    const leaf = path.at(-1);
    if (leaf !== undefined) leaf.reward = netReward(trajectories[index]!);
    return (paths[index] = path);
  };
  trajectories.forEach((_, i) => pathOf(i));
  return { paths, roots };
}

/** @param inherited advantage of the parent, for an only child. */
function giveAdvantages(
  siblings: readonly Node[],
  inherited: number,
  baseline: (value: number, values: readonly number[]) => number,
): void {
  const values = siblings.flatMap((node) => valueOf(node) ?? []);
  for (const node of siblings) {
    const value = valueOf(node);
    if (value === null) continue;
    if (siblings.length === 1) node.advantage = inherited;
    else node.advantage = allEqual(values) ? 0 : baseline(value, values);
    giveAdvantages(node.children, node.advantage, baseline);
  }
}

/** null: none of its leaves could be scored. */
function valueOf({ children, reward }: Node): number | null {
  if (children.length === 0) return reward;
  const known = children.flatMap((child) => valueOf(child) ?? []);
  return known.length === 0 ? null : mean(known);
}
