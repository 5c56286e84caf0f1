import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJsonl } from "../../base/jsonl.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RolledBack } from "./run-parts.ts";

/** Limits of a run's trajectories in a page. */
export interface TrajectoryBounds {
  /** Most trajectories of a step. */
  perStep: number;
  /** The run's share of the page, in characters of trajectories on disk. */
  characters: number;
}

/** Trajectories of a step. */
export interface StepSample {
  step: number;
  /** Number of the rollback that removed the step; null: not rolled back. */
  takenBack: number | null;
  trajectories: Trajectory[];
}

/** The sampled trajectories of a run, and their total. */
export interface TrajectorySample {
  /** By step; rolled-back steps come before the new ones. */
  steps: StepSample[];
  /** Steps of the run with trajectories on disk. */
  stepsThere: number;
}

/**
 * A sample of a run's trajectories that depends only on questions and rewards, so that runs can be compared: the questions of a step with
 * the smallest hashes, each with the trajectories of highest and lowest reward. The order of steps is last, first, then repeatedly the
 * middles between, until the limit is reached; rolled-back steps come after the others.
 */
export async function sampleTrajectories(
  { folder, rolledBack = [] }: { folder: string; rolledBack?: readonly RolledBack[] },
  { perStep, characters }: TrajectoryBounds,
): Promise<TrajectorySample> {
  const places = [
    { place: join(folder, "trajectories"), takenBack: null },
    ...[...rolledBack]
      .reverse()
      .map(({ folder: aside, number }) => ({
        place: join(aside, "trajectories"),
        takenBack: number,
      })),
  ];
  const steps: StepSample[] = [];
  let left = perStep === 0 ? 0 : characters;
  let stepsThere = 0;
  for (const { place, takenBack } of places) {
    const there = await stepsIn(place);
    stepsThere += there.length;
    for (const at of inwards(there.length)) {
      const step = there[at] ?? 0;
      if (left <= 0) break;
      const trajectories = await sampleOfStep(join(place, `step-${step}.jsonl`), perStep);
      left -= trajectories.reduce((sum, own) => sum + JSON.stringify(own).length, 0);
      steps.push({ step, takenBack, trajectories });
    }
  }
  const order = ({ takenBack }: StepSample): number => takenBack ?? Infinity;
  steps.sort((a, b) => a.step - b.step || (order(a) < order(b) ? -1 : 1));
  return { steps, stepsThere };
}

async function stepsIn(place: string): Promise<number[]> {
  const names = existsSync(place) ? await readdir(place) : [];
  const steps = names.flatMap((name) => {
    const [, step] = /^step-(\d+)\.jsonl$/.exec(name) ?? [];
    return step === undefined ? [] : [Number(step)];
  });
  return steps.sort((a, b) => a - b);
}

/** Positions 0 to count − 1: the last, the first, then repeatedly the middles between. @example inwards(5) // [4, 0, 2, 1, 3] */
export function inwards(count: number): number[] {
  if (count === 0) return [];
  const order = [count - 1, ...(count > 1 ? [0] : [])];
  let gaps: [from: number, to: number][] = [[0, count - 1]];
  while (gaps.length > 0) {
    const next: typeof gaps = [];
    for (const [from, to] of gaps) {
      if (to - from < 2) continue;
      const middle = Math.floor((from + to) / 2);
      order.push(middle);
      next.push([from, middle], [middle, to]);
    }
    gaps = next;
  }
  return order;
}

async function sampleOfStep(file: string, most: number): Promise<Trajectory[]> {
  const groups = new Map<string, Trajectory[]>();
  for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) {
    const trajectory = value as Trajectory;
    const own = groups.get(trajectory.taskId);
    if (own === undefined) groups.set(trajectory.taskId, [trajectory]);
    else own.push(trajectory);
  }
  const byHash = [...groups].map(([id, own]) => ({ hash: hashOf(id), own }));
  byHash.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return byHash.flatMap(({ own }) => bestAndWorst(own)).slice(0, most);
}

function bestAndWorst(group: readonly Trajectory[]): Trajectory[] {
  const reward = ({ reward: own }: Trajectory): number => own ?? -Infinity;
  const best = group.reduce((top, each) => (reward(each) > reward(top) ? each : top));
  const others = group.filter((each) => each !== best);
  if (others.length === 0) return [best];
  return [best, others.reduce((low, each) => (reward(each) < reward(low) ? each : low))];
}

function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}
