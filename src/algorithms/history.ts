import type { ScoredGroup } from "./scored-group.ts";
import { scoreOf } from "./scored-group.ts";
import { mean } from "../base/statistics.ts";

/** Visits of a task that are kept, the newest: more than the passes of one-shot RLVR (53) or SwS (17) over their questions. */
const KEPT_VISITS = 64;
/** Steps whose reward means are kept, the newest. */
const KEPT_STEPS = 64;

/** One visit of a task: the mean of each reward over its rollouts; "reward" is the combined one. */
export interface TaskVisit {
  /** From 0. */
  step: number;
  rollouts: number;
  means: Readonly<Record<string, number>>;
}

/** What a training has seen: samplers choose by it, rewards compare with it. It is kept with each checkpoint. */
export interface TrainingHistory {
  /** The newest visits of a task, oldest first; none of a task that was not seen. */
  visits(taskId: string): readonly TaskVisit[];
  /**
   * A batch's mean of a reward, before weights.
   * @param stepsBack 1: the step before this one.
   * @returns null where it was not measured.
   */
  mean(reward: string, stepsBack: number): number | null;
  record(step: number, groups: readonly ScoredGroup[]): void;
  state(): HistoryState;
}

/** As JSON. */
export interface HistoryState {
  tasks: Record<string, TaskVisit[]>;
  /** Of the newest steps, oldest first. */
  steps: { step: number; means: Record<string, number> }[];
}

/** @param state of an earlier `state()`; null begins empty. */
export function openHistory(state: HistoryState | null): TrainingHistory {
  const tasks = new Map(Object.entries(structuredClone(state?.tasks ?? {})));
  let steps = structuredClone(state?.steps ?? []);
  return {
    visits: (taskId) => tasks.get(taskId) ?? [],
    mean: (reward, stepsBack) => steps.at(-stepsBack)?.means[reward] ?? null,
    record(step, groups) {
      for (const group of groups) {
        const means = meansOf([group]);
        if (Object.keys(means).length === 0) continue;
        const visit = { step, rollouts: group.trajectories.length, means };
        const visits = [...(tasks.get(group.task.id) ?? []), visit];
        tasks.set(group.task.id, visits.slice(-KEPT_VISITS));
      }
      steps = [...steps, { step, means: meansOf(groups) }].slice(-KEPT_STEPS);
    },
    state: () => ({ tasks: Object.fromEntries(tasks), steps }),
  };
}

/** The mean of each reward over all training rollouts; absent where none could be scored. */
function meansOf(groups: readonly ScoredGroup[]): Record<string, number> {
  const trajectories = groups
    .flatMap((group) => group.trajectories)
    .filter(({ purpose }) => purpose === "train");
  const names = new Set(trajectories.flatMap(({ rewards }) => rewards.map(({ name }) => name)));
  const means: Record<string, number> = {};
  for (const name of [null, ...names]) {
    const scores = trajectories.flatMap((each) => scoreOf(each, name) ?? []);
    if (scores.length > 0) means[name ?? "reward"] = mean(scores);
  }
  return means;
}
