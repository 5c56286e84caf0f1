import type { PaperCell } from "../../run/claims.ts";
import type { Interval } from "../../evaluate/statistics.ts";
import type { KeptMeasure } from "./kept-measures.ts";
import type { RunOrigin } from "./run-origin.ts";
import type { ArmTest, roomlessness, SeedPrior, Verdict } from "./claim-test.ts";

/** One comparison of a relation, as the claim writes it: `a >= b - 0.02`. */
export interface Comparison {
  left: string;
  relation: ">" | ">=" | "<" | "<=" | "=";
  right: string;
}

/** One arm of a claim, as measured. */
export interface ArmResult {
  name: string;
  mean: number;
  /** 95 % interval over seeds and questions; null for one seed. */
  ci95: Interval | null;
  /** By seed, in the order of `seeds`. */
  values: number[];
  seeds: number[];
  /** Runs whose value is a lower bound: they ended before it happened (`stepsTo`, `tokensTo`, `collapse`). */
  bounds: number;
  /** Whether every seed gave the same answers: nothing in the arm is random. */
  isSameForAllSeeds: boolean;
  dataset: string;
  model: string;
  /** The paper's number, a share as a share. */
  paper: PaperCell | null;
}

/** One comparison of a claim. */
export interface ComparisonResult extends Comparison, ArmTest {
  /** Whether what is compared lies between 0 and 1. */
  isShare: boolean;
  /** p after Holm's correction over all comparisons of claims. */
  pHolm: number | null;
  /** The same of `pEffect`. */
  pEffectHolm: number | null;
  verdict: Verdict;
  /** For "not able to show": why. */
  room: ReturnType<typeof roomlessness>;
  /** The smallest difference that these runs would have found with a chance of 80 %. */
  detectable: number | null;
  /** Whether the difference lies on bounds that leave its direction open. */
  isOpenEnded: boolean;
}

export interface ClaimResult {
  id: string;
  statement: string;
  role: "claim" | "positive-control" | "equal-arms";
  metric: string;
  relation: string;
  source: string;
  /** What decides it: the method in which the arms differ, or the world, an untrained control or the base. */
  kind: "method" | "construction";
  /** The smallest effect of interest; null where none can be ruled out. */
  effect: { size: number; reason: string } | null;
  /** What differs between the arms beside the method. */
  unequal: Inequality[];
  /** Level of the look that it was decided at. */
  level: number;
  verdict: Verdict;
  /** For "not able to show" by the whole miniature, and for "not given" and "missing": why, in words. */
  instrument: string | null;
  /** Questions that every run of the claim measured; null where they are not known one by one. */
  questions: number | null;
  isShare: boolean;
  comparisons: ComparisonResult[];
  arms: ArmResult[];
  /** Metrics of the training whose curves are shown beside the reward; none in older results. */
  curves?: string[];
}

/** What arms do not have in common, by arm. */
export interface Inequality {
  /** `base policy` */
  what: string;
  arms: Record<string, string>;
}

/** A run that claims were tested on. */
export interface ReproducedRun {
  /** Hash of its settings, version, plugins and input files; its folder's name ends with it. */
  key: string;
  seed: number;
  /** `claim/arm` of every arm that it is. */
  arms: string[];
  origin: RunOrigin;
  /** What it measured, by metric. */
  measured: Record<string, KeptMeasure>;
}

/** Where the control began and ended, and where it had to. */
export interface CalibrationResult {
  metric: string;
  seeds: number[];
  start: { range: readonly [number, number]; mean: number; isInside: boolean };
  end: { range: readonly [number, number]; mean: number; isInside: boolean };
}

/** A setting with which claims run otherwise than `agentrl train`; null where it is not set. */
export interface SettingDifference {
  key: string;
  train: unknown;
  claims: unknown;
}

/** A recipe's claims, tested. */
export interface Reproduction {
  recipe: string;
  /** The recipe's summary, its paper, and what it does otherwise than the paper. */
  summary: string;
  family: string | null;
  paper: { id: string; title?: string | undefined } | null;
  notes: string[];
  tier: "smoke" | "mini" | "paper";
  /** Seeds of the claim that has most of them. */
  seeds: number[];
  /** Numbers of seeds at which the runs were looked at, and the level of each look. */
  looks: number[];
  levels: number[];
  /** Of the variance between seeds of shares; fixed before the runs. */
  prior: SeedPrior;
  /** null where the recipe declares none. */
  calibration: CalibrationResult | null;
  claims: ClaimResult[];
  /** What `claims.base` changes. */
  base: SettingDifference[];
  /** Hash of the claims and of the settings that the recipe gave their arms; null in results of older versions. */
  claimsHash: string | null;
  runs: ReproducedRun[];
  /** Values by question of all runs (`PackedMeasures`). */
  questions: string;
}
