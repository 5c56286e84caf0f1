import { deferring } from "../base/deferring.ts";
import { allSettled } from "../base/in-order.ts";
import { seedFrom } from "../base/random.ts";
import type { EndReason, Trajectory } from "../trajectory/trajectory.ts";
import { emptyTrajectory, recordOn, type RolloutOptions } from "./record.ts";
import {
  advance,
  begin,
  conclude,
  type Play,
  playOut,
  playPrefix,
  type Standing,
} from "./roll-out.ts";

export interface TreeShape {
  /** Messages drawn at a place: as many everywhere, or as what was played so far decides; 1: it does not branch there. */
  width: number | ((played: Trajectory) => number);
  /** Most branchings on the way to a leaf; after them it is played to its end. */
  depth: number;
  /** Plays one segment and updates `standing`; default `advance`, by which a segment is a turn. @returns the end; null: none. */
  play?: (game: Play, standing: Standing) => Promise<EndReason | null>;
}

type Node = { game: Play; standing: Standing };

/**
 * A rollout that branches: at some of its turns several messages are drawn, and each continues by itself.
 * @returns one trajectory per leaf. A node's first child continues its parent's trajectory; the others copy its calls and name it in
 * `branch`, so that training learns shared calls once. A leaf that fails is recorded with its error.
 */
export function rollOutTree(options: RolloutOptions, shape: TreeShape): Promise<Trajectory[]> {
  return deferring(async (defer) => {
    const trajectory = emptyTrajectory(options);
    const game: Play = { ...options, variant: {}, trajectory, prompt: "" };
    const root = { game, standing: begin(game, defer) };
    const end = await recordOn(trajectory, () => playPrefix(game, root.standing));
    return end === null ? grow(root, shape) : [leafOf(root)];
  });
}

async function grow(node: Node, shape: TreeShape): Promise<Trajectory[]> {
  const { depth, play = advance } = shape;
  const width = typeof shape.width === "number" ? shape.width : shape.width(node.game.trajectory);
  if (depth === 0) {
    await recordOn(node.game.trajectory, () => playOut(node.game, node.standing));
    return [leafOf(node)];
  }
  // The children wait for places in the engine's cache, so the parent gives up its own.
  node.standing.dialogue.end();
  const children = Array.from({ length: width }, (_, k) => childOf(node, k));
  // All of them end before the episodes are closed.
  const leaves = await allSettled(
    children.map(async (child) => {
      const { game, standing } = child;
      const end = await recordOn(game.trajectory, () => play(game, standing));
      const left = width > 1 ? depth - 1 : depth;
      return end === null ? grow(child, { ...shape, depth: left }) : [leafOf(child)];
    }),
  );
  return leaves.flat();
}

function childOf({ game, standing }: Node, k: number): Node {
  const { dialogue, episode, turn } = standing;
  // A turn may have several segments, and each is a call.
  const segment = game.trajectory.calls.length;
  const id = k === 0 ? game.id : `${game.id}.${segment}.${k}`;
  const seed = seedFrom(game.seed, "branch", turn, k);
  const trajectory = k === 0 ? game.trajectory : branchOf(game.trajectory, id, seed);
  const { calls, turns } = trajectory;
  // Its sequence has a name of its own: the parent's has ended.
  const fork = dialogue.fork({ id: `${id}~${segment}`, seed, calls, turns });
  return {
    game: { ...game, id, seed, trajectory },
    standing: { ...standing, episode: episode.fork(), dialogue: fork },
  };
}

function branchOf(from: Trajectory, id: string, seed: number): Trajectory {
  return {
    ...from,
    id,
    seed,
    rewards: [],
    calls: [...from.calls],
    turns: [...from.turns],
    hints: from.hints && [...from.hints],
    timings: from.timings && { ...from.timings },
    branch: { of: from.id, calls: from.calls.length },
  };
}

function leafOf({ game, standing }: Node): Trajectory {
  conclude(game, standing);
  return game.trajectory;
}
