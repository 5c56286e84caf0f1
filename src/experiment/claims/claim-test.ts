import { mean, sampleVariance } from "../../base/statistics.ts";
import { type Interval, holmAdjusted } from "../../evaluate/statistics.ts";
import { centralQuantile, twoSidedP } from "../../evaluate/student-t.ts";
import { ROUNDING } from "../arm-comparison.ts";

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
  /** What the difference is tested against: 0, or a margin. */
  margin: number;
  /** Interval of the difference at the look's level, at least 95 %; null with one seed, or where nothing varies and no question is known. */
  ci95: Interval | null;
  /** Two-sided p of a difference of `margin`; null likewise. Never 0. */
  p: number | null;
  /** One-sided p of a difference of at least `margin` + the smallest effect of interest; null likewise, without such an effect, and for a margin below 0. */
  pEffect: number | null;
  /** What the interval generalises to. */
  over: "seeds and questions" | "seeds";
  /** Standard error of the difference and its degrees of freedom; null where nothing varies or nothing is known. */
  error: { total: number; degrees: number; seeds: number; questions: number } | null;
}

/** The verdict of runs on a claim. */
export type Verdict =
  | "supported"
  /** The difference is on the other side. */
  | "reversed"
  /** The difference is smaller than the smallest effect of interest, or than the claimed margin. */
  | "ruled out"
  | "undecided"
  /** Ceiling or floor: no result on these questions could have shown it; or the miniature did not show its positive control. */
  | "not able to show"
  | "identical arms"
  /** Of equal arms: whether they were told apart. */
  | "different"
  | "no difference"
  /** Tier smoke. */
  | "not tested"
  /** Of given results: those of an arm are not among them. */
  | "not given"
  /** Of given results: the metric cannot be computed from them. */
  | "missing";

/** Level of all tests of a reproduction together, two-sided. */
export const LEVEL = 0.05;

/** Smallest effect of interest of a share, where a claim declares none. */
export const LEAST_EFFECT = 0.05;

/** What is known of the variance between seeds before a run, and how many degrees of freedom this knowledge is worth. */
export interface SeedPrior {
  degrees: number;
  /** Standard deviation of the difference between two arms from seed to seed. */
  deviation: number;
}

/**
 * Of shares of evaluations with four draws a question. From the 91 comparisons of EM and F1 that were measured in November 2026 with one
 * draw: an inverse chi-square fit to their variances gives 9.5 degrees and .035, of which draws make up three quarters; so .023 with four
 * draws. Of the degrees about half are taken: then the error rate holds even if seeds vary twice as much (docs/claims.md).
 */
export const SHARE_PRIOR: SeedPrior = { degrees: 4, deviation: 0.025 };

/** Draws of each question from which `SHARE_PRIOR` holds. */
export const PRIOR_DRAWS = 4;

/** How a comparison is tested. */
export interface TestOptions {
  /** Whether the metric lies between 0 and 1. */
  isShare: boolean;
  /** Level of this look's tests; `LEVEL` where there is only one look. */
  level?: number;
  /** The claimed difference is above this: `a >= b - 0.02` has the margin −.02. */
  margin?: number;
  /** Smallest difference beyond the margin that matters; null: no test of it. */
  effect?: number | null;
  /** Of the variance between seeds; null: only these seeds tell. */
  prior?: SeedPrior | null;
  /** What the left and the right arm are multiplied by: `a <= 0.7 * b`. */
  factors?: readonly [left: number, right: number];
}

/**
 * Compares two arms that ran the same seeds, or an arm with a number. A margin below 0 makes it a test of non-inferiority: the interval's
 * lower end must be above it. With factors, factor · left − factor · right is tested seed by seed and question by question.
 *
 * The difference is a mean over seeds and over questions, and both are samples. Its squared standard error is the sum of the squared error
 * over seeds (of their means) and that over questions (of their means over seeds); a draw's noise is in both, so the sum is a little too
 * large. The variance between seeds is moderated by what is known before: (d₀ s₀² + (S − 1) s²) / (d₀ + S − 1). Degrees of freedom are
 * Satterthwaite's.
 *
 * A share gets two pseudo-questions, one that only the left arm has right and one that only the right arm has right, and its interval is cut
 * at ±1. Against a number they are two right and two wrong questions.
 *
 * Source: moderation: Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004). Crossed random effects of subjects and
 * items: Clark, Journal of Verbal Learning and Verbal Behavior 12 (1973). Pseudo-questions: Bonett and Price, Journal of Educational and
 * Behavioral Statistics 37 (2012). Different here: the prior is fixed before the runs; the doubly counted noise is not subtracted, which
 * would need more seeds to estimate.
 *
 * @example
 * // Differences by seed .1 and .3: mean .2, s² = .02. Without a prior the error is √(.02 / 2) = .1 with 1 degree. A prior of 3 degrees at
 * // .05 makes s² (3 · .0025 + .02) / 4 = .006875 with 4 degrees, so the error is .0586.
 * compareMeasured({ bySeed: [.6, .8], byQuestion: null }, { bySeed: [.5, .5], byQuestion: null },
 *                 { isShare: false, prior: { degrees: 3, deviation: .05 } })
 */
export function compareMeasured(
  left: MeasuredArm,
  right: MeasuredArm | number,
  options: TestOptions,
): ArmTest {
  const { isShare, level = LEVEL, margin = 0, effect = null, prior = null } = options;
  const [factor, ofRight] = options.factors ?? [1, 1];
  const isNumber = typeof right === "number";
  const against = (values: readonly number[], others: readonly number[] | undefined): number[] =>
    values.map(
      (value, i) => factor * value - (isNumber ? right : ofRight * (others?.[i] ?? Number.NaN)),
    );
  const seeds = against(left.bySeed, isNumber ? undefined : right.bySeed);
  const size = Math.max(
    ...[...left.bySeed, ...(isNumber ? [right] : right.bySeed)].map((value) => Math.abs(value)),
  );
  const bounds: Interval = isNumber
    ? [Math.min(0, factor) - right, Math.max(0, factor) - right]
    : [-ofRight, factor];
  const [ours, theirs] = [questionMeans(left), isNumber ? [] : questionMeans(right)];
  const questions = ours === null || theirs === null ? null : against(ours, theirs);
  const two = isNumber ? [factor - right, -right] : [factor, -ofRight];
  const pseudo = !isShare || questions === null ? [] : isNumber ? [...two, ...two] : two;
  const all = [...(questions ?? []), ...pseudo];
  // The seeds' means move towards 0 as those of the questions do.
  const overSeeds = meanError(
    seeds.map((value) => (questions === null ? value : shrunk(value, questions.length, pseudo))),
  );
  const found = added(moderated(overSeeds, prior), questions === null ? null : meanError(all));
  const known = { difference: mean(questions ?? seeds), margin };
  const over = questions === null ? ("seeds" as const) : ("seeds and questions" as const);
  if (seeds.length < 2 || found === null || !(found.total > ROUNDING * size))
    return { ...known, over, ci95: null, p: null, pEffect: null, error: null };
  const { total, degrees } = found;
  const centre = mean(questions === null ? seeds : all);
  const half = centralQuantile(1 - level, degrees) * total;
  return {
    ...known,
    over,
    ci95: cut([centre - half, centre + half], isShare, bounds),
    p: twoSidedP((centre - margin) / total, degrees),
    // "No worse than" is refuted by being worse alone: that it is no better refutes nothing.
    pEffect:
      effect === null || margin < 0 ? null : upperP((margin + effect - centre) / total, degrees),
    error: found,
  };
}

/** A standard error of a mean, and how well it is known. */
interface MeanError {
  error: number;
  degrees: number;
}

function meanError(values: readonly number[]): MeanError {
  const error = Math.sqrt(sampleVariance(values) / values.length);
  return { error, degrees: values.length - 1 };
}

/** The error over seeds with what is known before. */
function moderated({ error, degrees }: MeanError, prior: SeedPrior | null): MeanError {
  if (prior === null) return { error, degrees };
  const seeds = degrees + 1;
  const variance = moderatedVariance(error ** 2 * seeds, degrees, prior);
  return { error: Math.sqrt(variance / seeds), degrees: prior.degrees + degrees };
}

/** A variance between seeds, and what is known of it before: their mean, weighted by degrees of freedom. */
export function moderatedVariance(variance: number, degrees: number, prior: SeedPrior): number {
  const known = prior.degrees * prior.deviation ** 2;
  return (known + degrees * variance) / (prior.degrees + degrees);
}

/** The error of a mean over seeds and questions; degrees of freedom after Satterthwaite, Biometrics Bulletin 2 (1946). */
function added(seeds: MeanError, questions: MeanError | null): ArmTest["error"] {
  const parts = questions === null ? [seeds] : [seeds, questions];
  const variance = parts.reduce((sum, { error }) => sum + error ** 2, 0);
  const spread = parts.reduce((sum, { error, degrees }) => sum + error ** 4 / degrees, 0);
  if (!(variance > 0)) return null;
  return {
    total: Math.sqrt(variance),
    degrees: variance ** 2 / spread,
    seeds: seeds.error,
    questions: questions?.error ?? 0,
  };
}

/** Probability of a value above `t`. */
function upperP(t: number, degrees: number): number {
  const tails = twoSidedP(t, degrees) / 2;
  return t > 0 ? tails : 1 - tails;
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
  { level = LEVEL, margin = 0, factors: [factor, ofRight] = [1, 1] }: Omit<TestOptions, "isShare">,
): "ceiling" | "floor" | null {
  const shows = (differences: readonly number[] | undefined): boolean => {
    if (differences === undefined) return true;
    const values = [...differences, factor, -ofRight];
    const { error, degrees } = meanError(values);
    const above = mean(values) - margin;
    return above > 0 && error > 0 && twoSidedP(above / error, degrees) < level;
  };
  if (typeof right !== "number" && !shows(questionMeans(right)?.map((v) => factor - ofRight * v)))
    return "ceiling";
  if (typeof left !== "number" && !shows(questionMeans(left)?.map((value) => factor * value)))
    return "floor";
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

/** What one comparison says of "left is above right" by its margin; `>` and `>=` are tested alike. */
export function verdictOf({
  difference,
  margin = 0,
  pHolm,
  pEffectHolm = null,
  isIdentical,
  room,
  level = LEVEL,
}: {
  difference: number;
  margin?: number;
  pHolm: number | null;
  pEffectHolm?: number | null;
  isIdentical: boolean;
  room: ReturnType<typeof roomlessness>;
  /** Level of this look. */
  level?: number;
}): Verdict {
  if (isIdentical) return "identical arms";
  if (pHolm === null) return "undecided";
  if (pHolm < level) {
    if (difference > margin) return "supported";
    // `a > b + 0.1` is not turned round by a difference of .05.
    return margin > 0 && difference > 0 ? "ruled out" : "reversed";
  }
  // Without room for the effect its absence says nothing.
  if (room !== null) return "not able to show";
  return pEffectHolm !== null && pEffectHolm < level ? "ruled out" : "undecided";
}

/** The verdict of an A/A test: identical arms must not differ. */
export function equalityOf(p: number | null, isIdentical: boolean, level = LEVEL): Verdict {
  if (isIdentical) return "identical arms";
  if (p === null) return "undecided";
  return p < level ? "different" : "no difference";
}

/** Verdicts by what they decide about a claim of several comparisons: the first that occurs is the claim's. */
const DECIDING: readonly Verdict[] = [
  "not given",
  "missing",
  "not tested",
  "reversed",
  "ruled out",
  "different",
  "identical arms",
  "not able to show",
  "undecided",
  "no difference",
  "supported",
];

/** Verdict of a claim with several comparisons: "supported" needs all. */
export function combinedVerdict(verdicts: readonly Verdict[]): Verdict {
  return DECIDING.find((each) => verdicts.includes(each)) ?? "undecided";
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

function cut(ci95: Interval, isShare: boolean, [least, most]: Interval): Interval {
  if (!isShare) return ci95;
  return [Math.max(least, ci95[0]), Math.min(most, ci95[1])];
}
