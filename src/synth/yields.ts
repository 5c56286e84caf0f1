import { type Trajectory, searchCount } from "../trajectory/trajectory.ts";
import { type DrawnQuestion, GAVE_UP } from "./draw-log.ts";
import type { SampleGroup, StepResult } from "./steps/step.ts";

/** Input and output counts of a synthesis step. */
export interface StepYield {
  name: string;
  kind: "draw" | "gate" | "filter" | "repair" | "weight" | "pairs" | "selection";
  in: number;
  out: number;
  dropped: Record<string, number>;
  mended: number;
  pairs: number;
  /** Questions with a remaining sample. */
  questions: number;
}

/** Counts a step's yield as groups go through it. */
export interface YieldCounter {
  count(
    before: number,
    result: Pick<StepResult, "dropped" | "mended" | "pairs">,
    left: number,
  ): void;
  readonly row: StepYield;
}

export function yieldCounter(name: string, kind: StepYield["kind"]): YieldCounter {
  const row: StepYield = {
    name,
    kind,
    in: 0,
    out: 0,
    dropped: {},
    mended: 0,
    pairs: 0,
    questions: 0,
  };
  return {
    row,
    count(before, { dropped, mended = [], pairs = [] }, left) {
      row.in += before;
      row.out += left;
      row.mended += mended.length;
      row.pairs += pairs.length;
      row.questions += left > 0 ? 1 : 0;
      for (const { reason } of dropped) row.dropped[reason] = (row.dropped[reason] ?? 0) + 1;
    },
  };
}

/** Results of one draw of a synthesis, over all questions and before any step. */
export interface DrawYield {
  name: string;
  rollouts: number;
  /** Including those in which the teacher gave up. */
  failed: number;
  /** Share of the successful rollouts in which a tool ran. */
  toolRate: number | null;
  searches: number | null;
  answerRate: number | null;
  reward: number | null;
  hints: Record<string, number>;
  /** Mean of each score over the draws that have it; absent where no scorer ran. */
  scores?: Record<string, number>;
}

/** Sums up each draw of a run separately. @param scored names of the scores whose means it tells. */
export function openDrawYields(
  names: readonly string[],
  scored: readonly string[] = [],
): { add(drawn: DrawnQuestion): void; yields(): DrawYield[] } {
  const sums = new Map(names.map((name) => [name, emptySum()]));
  return {
    add({ candidates }) {
      for (const { trajectory, provenance, scores } of candidates) {
        const { name } = provenance.draw;
        const sum = sums.get(name) ?? emptySum();
        sums.set(name, sum);
        addTo(sum, trajectory);
        for (const score of scored) addScore(sum.scores, score, scores[score]);
      }
    },
    yields: () => [...sums].map(([name, sum]) => drawYield(name, sum)),
  };
}

interface DrawSum {
  rollouts: number;
  failed: number;
  tools: number;
  searches: number;
  answered: number;
  rewarded: number;
  reward: number;
  hints: Record<string, number>;
  scores: Map<string, { total: number; count: number }>;
}

function emptySum(): DrawSum {
  return {
    rollouts: 0,
    failed: 0,
    tools: 0,
    searches: 0,
    answered: 0,
    rewarded: 0,
    reward: 0,
    hints: {},
    scores: new Map(),
  };
}

function addTo(sum: DrawSum, trajectory: Trajectory): void {
  const { turns, answer, reward, error, hints = [] } = trajectory;
  sum.rollouts += 1;
  if (error !== undefined) {
    sum.failed += 1;
    return;
  }
  sum.tools += turns.some(({ observations }) => observations.length > 0) ? 1 : 0;
  sum.searches += searchCount(trajectory);
  sum.answered += answer === null ? 0 : 1;
  if (reward !== null) {
    sum.rewarded += 1;
    sum.reward += reward;
  }
  for (const { name } of hints) sum.hints[name] = (sum.hints[name] ?? 0) + 1;
}

function drawYield(name: string, sum: DrawSum): DrawYield {
  const { rollouts, failed, tools, searches, answered, rewarded, reward, hints, scores } = sum;
  const whole = rollouts - failed;
  const share = (count: number): number | null => (whole === 0 ? null : count / whole);
  return {
    name,
    rollouts,
    failed,
    toolRate: share(tools),
    searches: share(searches),
    answerRate: share(answered),
    reward: rewarded === 0 ? null : reward / rewarded,
    hints,
    ...(scores.size === 0 ? {} : { scores: meansOf(scores) }),
  };
}

function addScore(scores: DrawSum["scores"], name: string, value: number | undefined): void {
  if (value === undefined) return;
  const { total, count } = scores.get(name) ?? { total: 0, count: 0 };
  scores.set(name, { total: total + value, count: count + 1 });
}

function meansOf(scores: DrawSum["scores"]): Record<string, number> {
  return Object.fromEntries([...scores].map(([name, { total, count }]) => [name, total / count]));
}

/** The draws of a question that did not fail. */
export function finished({ task, candidates }: DrawnQuestion): StepResult & { group: SampleGroup } {
  const kept = candidates.filter(({ trajectory }) => trajectory.error === undefined);
  const dropped = candidates.flatMap(({ id, trajectory: { error } }) =>
    error === undefined
      ? []
      : [{ id, reason: error.code === GAVE_UP ? "teacher gave up" : `failed: ${error.code}` }],
  );
  return { kept, dropped, group: { task, candidates: kept } };
}
