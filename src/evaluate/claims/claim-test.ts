import { mean, sampleVariance } from "../../base/statistics.ts";
import { ROUNDING } from "../arm-comparison.ts";
import { holmAdjusted } from "../paired-test.ts";
import type { Interval } from "../statistics.ts";
import { centralQuantile, twoSidedP } from "../student-t.ts";

/** What the runs of one arm measured. */
export interface MeasuredArm {
  /** [S] The metric, a value per seed. */
  bySeed: readonly number[];
  /** [S][Q] The same per question, with the same questions in the same order in every arm; null where it is unknown. */
  byQuestion: readonly (readonly number[])[] | null;
}

/** Difference between two arms, or between an arm and a number. */
export interface ArmTest {
  /** Left minus right. */
  difference: number;
  /** 95 % interval of the difference, at every look together; null with one seed, or where nothing varies and no question is known. */
  ci95: Interval | null;
  /** Two-sided p of no difference; null likewise. Never 0. */
  p: number | null;
  /** What the interval generalises to. */
  over: "seeds and questions" | "seeds";
  /** Standard errors of the difference; null where nothing varies or nothing is known. */
  errors: { seeds: number | null; questions: { error: number; degrees: number } | null };
}

/** The verdict of runs on a claim. */
export type Verdict =
  | "supported"
  | "not supported"
  | "inconclusive"
  /** Ceiling or floor: no result on these questions could have shown it. */
  | "not able to show"
  | "identical arms"
  /** Tier smoke. */
  | "not tested";

/** Level of all tests of a reproduction together, two-sided. */
export const LEVEL = 0.05;

/** How a comparison is tested. */
export interface TestOptions {
  /** Whether the metric lies between 0 and 1. */
  isShare: boolean;
  /** Level of this look's tests; `LEVEL` where there is only one look. */
  level?: number;
}

/**
 * Compares two arms that ran the same seeds, or an arm with a number.
 *
 * Two paired t tests are made: over seeds (their means) and over questions (means over seeds). The wider interval and the larger p count, so
 * that a difference must hold for other seeds and for other questions. Seeds that agree to the last digit then give no interval of width 0:
 * the questions are still a sample.
 *
 * A share gets two pseudo-questions, one that only the left arm has right and one that only the right arm has right, and its interval is cut
 * at ±1. Against a number they are two right and two wrong questions.
 *
 * Source: both tests must reject: Clark, Journal of Verbal Learning and Verbal Behavior 12 (1973). Pseudo-questions: Bonett and Price,
 * Journal of Educational and Behavioral Statistics 37 (2012), and Agresti and Coull, The American Statistician 52 (1998).
 * Different here: t instead of normal quantiles; shares such as F1 are treated alike. In simulations with 3 seeds and 50 to 500 questions the
 * interval covered the true difference in 95 to 99 % of the cases.
 *
 * @example
 * // One question of four differs, in both seeds. With the pseudo-questions the differences are 1 0 0 0 1 −1: mean 1/6, standard error
 * // √(.5667 / 6) = .3073, t(5) = 2.5706: −.623 … .957. The seeds agree, so their interval has width 0 and the questions' counts.
 * compareMeasured({ bySeed: [1, 1], byQuestion: [[1, 1, 1, 1], [1, 1, 1, 1]] },
 *                 { bySeed: [.75, .75], byQuestion: [[0, 1, 1, 1], [0, 1, 1, 1]] }, { isShare: true })
 */
export function compareMeasured(
  left: MeasuredArm,
  right: MeasuredArm | number,
  { isShare, level = LEVEL }: TestOptions,
): ArmTest {
  const isNumber = typeof right === "number";
  const against = (values: readonly number[], others: readonly number[] | undefined): number[] =>
    values.map((value, i) => value - (isNumber ? right : (others?.[i] ?? Number.NaN)));
  const bySeed = against(left.bySeed, isNumber ? undefined : right.bySeed);
  const size = Math.max(
    ...[...left.bySeed, ...(isNumber ? [right] : right.bySeed)].map((value) => Math.abs(value)),
  );
  const bounds: Interval = isNumber ? [0 - right, 1 - right] : [-1, 1];
  const [ours, theirs] = [questionMeans(left), isNumber ? [] : questionMeans(right)];
  if (ours === null || theirs === null) {
    const { ci95, p, error } = tTest(bySeed, size, level);
    const errors = { seeds: error, questions: null };
    return { difference: mean(bySeed), ci95: cut(ci95, isShare, bounds), p, over: "seeds", errors };
  }
  const byQuestion = against(ours, theirs);
  const pseudo = !isShare ? [] : isNumber ? [1 - right, 1 - right, -right, -right] : [1, -1];
  // The seeds' means move towards 0 as those of the questions do.
  const shrunken = bySeed.map((value) => shrunk(value, byQuestion.length, pseudo));
  const overSeeds = tTest(shrunken, size, level);
  const overQuestions = tTest([...byQuestion, ...pseudo], size, level);
  const { error, degrees } = overQuestions;
  return {
    difference: mean(byQuestion),
    ...combined([overSeeds, overQuestions], left.bySeed.length, (ci95) =>
      cut(ci95, isShare, bounds),
    ),
    over: "seeds and questions",
    errors: { seeds: overSeeds.error, questions: error === null ? null : { error, degrees } },
  };
}

/** 95 % interval of an arm's own mean, by the same tests; of a share it lies between 0 and 1. */
export function armInterval(arm: MeasuredArm, options: { isShare: boolean }): Interval | null {
  return compareMeasured(arm, 0, options).ci95;
}

/**
 * Why no result could show that `left` is above `right`: even an arm that has every question right would not be above `right` (ceiling), or
 * `left` itself is not above an arm that has every question wrong (floor). Null where there is room.
 */
export function roomlessness(
  left: MeasuredArm | number,
  right: MeasuredArm | number,
  level = LEVEL,
): "ceiling" | "floor" | null {
  const shows = (values: readonly number[] | null): boolean =>
    values === null || (tTest([...values, 1, -1], 1, level).p ?? 1) < level;
  if (typeof right !== "number" && !shows(questionMeans(right)?.map((value) => 1 - value) ?? null))
    return "ceiling";
  if (typeof left !== "number" && !shows(questionMeans(left))) return "floor";
  return null;
}

/**
 * p of every test of one call after Holm's correction; null stays null and is no test.
 * @example correctedPs([0.01, null, 0.04]) // [0.02, null, 0.04]
 */
export function correctedPs(ps: readonly (number | null)[]): (number | null)[] {
  const adjusted = holmAdjusted(ps.filter((p) => p !== null));
  let next = 0;
  return ps.map((p) => (p === null ? null : (adjusted[next++] ?? 1)));
}

/** What one comparison says of "left is above right"; `>` and `>=` are tested alike. */
export function verdictOf({
  difference,
  pHolm,
  isIdentical,
  room,
  level = LEVEL,
}: {
  difference: number;
  pHolm: number | null;
  isIdentical: boolean;
  room: ReturnType<typeof roomlessness>;
  /** Level of this look. */
  level?: number;
}): Verdict {
  if (isIdentical) return "identical arms";
  if (pHolm === null) return "inconclusive";
  if (pHolm < level) return difference > 0 ? "supported" : "not supported";
  return room === null ? "inconclusive" : "not able to show";
}

/** Verdicts by what they decide about a claim of several comparisons: the first that occurs is the claim's. */
const DECIDING: readonly Verdict[] = [
  "not tested",
  "not supported",
  "identical arms",
  "not able to show",
  "inconclusive",
  "supported",
];

/** Verdict of a claim with several comparisons: "supported" needs all. */
export function combinedVerdict(verdicts: readonly Verdict[]): Verdict {
  return DECIDING.find((each) => verdicts.includes(each)) ?? "inconclusive";
}

/** [S][Q] → [Q] */
function questionMeans({ byQuestion }: MeasuredArm): number[] | null {
  if (byQuestion === null) return null;
  return (byQuestion[0] ?? []).map((_, i) => mean(byQuestion.map((seed) => seed[i] ?? Number.NaN)));
}

/** A mean over `n` questions after pseudo-questions were added. */
function shrunk(value: number, n: number, pseudo: readonly number[]): number {
  return (value * n + pseudo.reduce((sum, each) => sum + each, 0)) / (n + pseudo.length);
}

/**
 * t test of mean 0; nulls below two values, and where they do not vary.
 * @param size of the largest number that the values were computed from.
 */
function tTest(
  values: readonly number[],
  size: number,
  level: number,
): { ci95: Interval | null; p: number | null; error: number | null; degrees: number } {
  const error = Math.sqrt(sampleVariance(values) / values.length);
  const [centre, degrees] = [mean(values), values.length - 1];
  if (!(error > ROUNDING * size)) return { ci95: null, p: null, error: null, degrees };
  const half = centralQuantile(1 - level, degrees) * error;
  const p = twoSidedP(centre / error, degrees);
  return { ci95: [centre - half, centre + half], p, error, degrees };
}

/** The wider interval and the larger p of tests that vary; none of a single seed, which says nothing about others. */
function combined(
  tests: readonly ReturnType<typeof tTest>[],
  seeds: number,
  bounded: (ci95: Interval | null) => Interval | null,
): Pick<ArmTest, "ci95" | "p"> {
  if (seeds < 2) return { ci95: null, p: null };
  const intervals = tests.flatMap(({ ci95 }) => (ci95 === null ? [] : [ci95]));
  const [widest = null] = intervals.sort(([a, b], [c, d]) => d - c - (b - a));
  const ps = tests.flatMap(({ p }) => p ?? []);
  return { ci95: bounded(widest), p: ps.length === 0 ? null : Math.max(...ps) };
}

function cut(ci95: Interval | null, isShare: boolean, [least, most]: Interval): Interval | null {
  if (ci95 === null || !isShare) return ci95;
  return [Math.max(least, ci95[0]), Math.min(most, ci95[1])];
}
