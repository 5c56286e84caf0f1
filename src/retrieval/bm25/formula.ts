import { type Part, registry } from "../../base/registry.ts";
import { parseOptions } from "../../base/schema.ts";
import { type Analyzer, analyzers, DEFAULT_ANALYZER } from "../../text/analyzer.ts";
import { type Bm25Options, bm25Options } from "./bm25-options.ts";

export interface Bm25Parameters {
  variant: string;
  /** Saturation of a repeated term. */
  k1: number;
  b: number;
  /** Reward for a term's presence; only BM25+ and BM25L have it. */
  delta: number;
}

/**
 * One member of the BM25 family, in a form that one loop can compute for all:
 *
 *   score(q, p) = Σ_{t in q} weight(t) · ((tf + s) / (tf + s + K) + c),   K = k1 · n,   n = 1 − b + b · length / mean length
 *
 * The sum is over the terms of the passage; a repeated query term counts repeatedly.
 */
interface Bm25Variant extends Part {
  /**
   * @param df passages with the term, at least 1.
   * @param count N.
   * @returns the term's weight, not negative.
   */
  weight(df: number, count: number, parameters: Bm25Parameters): number;
  /** s for a passage of normalised length n. */
  shift(n: number, parameters: Bm25Parameters): number;
  /** c. */
  presence(parameters: Bm25Parameters): number;
}

const none = (): number => 0;

/** Lucene's BM25Similarity since version 8, with exact passage lengths (Lucene rounds them to one byte). */
const lucene: Bm25Variant = {
  name: "lucene",
  summary: "Lucene's: ln(1 + (N − df + ½) / (df + ½)), without the constant factor k1 + 1.",
  weight: (df, count) => Math.log(1 + (count - df + 0.5) / (df + 0.5)),
  shift: none,
  presence: none,
};

/** Robertson and Walker 1994, without the constant factor k1 + 1. Different here: negative weights (terms in more than half of all passages) become 0. */
const robertson: Bm25Variant = {
  name: "robertson",
  summary: "The original: ln((N − df + ½) / (df + ½)), at least 0.",
  weight: (df, count) => Math.max(0, Math.log((count - df + 0.5) / (df + 0.5))),
  shift: none,
  presence: none,
};

/** Trotman, Jia and Crane 2012. */
const atire: Bm25Variant = {
  name: "atire",
  summary: "ATIRE's: ln(N / df).",
  weight: (df, count, { k1 }) => (k1 + 1) * Math.log(count / df),
  shift: none,
  presence: none,
};

/** Lv and Zhai, CIKM 2011: a term's presence adds `delta` for any passage length. */
const bm25Plus: Bm25Variant = {
  name: "bm25+",
  summary: "BM25+: ln((N + 1) / df), and `delta` for a term's presence.",
  weight: (df, count, { k1 }) => (k1 + 1) * Math.log((count + 1) / df),
  shift: none,
  presence: ({ k1, delta }) => delta / (k1 + 1),
};

/** Lv and Zhai, SIGIR 2011: `delta` is added to the normalised frequency, so long passages are not over-penalised. */
const bm25L: Bm25Variant = {
  name: "bm25l",
  summary: "BM25L: ln((N + 1) / (df + ½)), and `delta` added to the normalised frequency.",
  weight: (df, count, { k1 }) => (k1 + 1) * Math.log((count + 1) / (df + 0.5)),
  shift: (n, { delta }) => delta * n,
  presence: none,
};

export const bm25Variants = registry<Bm25Variant>("BM25 variant", [
  lucene,
  robertson,
  atire,
  bm25Plus,
  bm25L,
]);

/** Precomputed values of a variant for given parameters and mean length. */
export interface Bm25Tables {
  /** [longest length + 1] s by passage length. */
  readonly shifts: Float64Array;
  /** [longest length + 1] s + K by passage length. */
  readonly penalties: Float64Array;
  /** c. */
  readonly presence: number;
}

/**
 * @param meanLength terms per passage on average, positive.
 * @param longest the longest passage, in terms.
 * @throws {ConfigError} PART_UNKNOWN
 */
export function bm25Tables(
  parameters: Bm25Parameters,
  meanLength: number,
  longest: number,
): Bm25Tables {
  const { k1, b } = parameters;
  const variant = bm25Variants.get(parameters.variant, "variant");
  const shifts = new Float64Array(longest + 1);
  const penalties = new Float64Array(longest + 1);
  for (let length = 0; length <= longest; length++) {
    const n = 1 - b + (b * length) / meanLength;
    shifts[length] = variant.shift(n, parameters);
    penalties[length] = shifts[length]! + k1 * n;
  }
  return { shifts, penalties, presence: variant.presence(parameters) };
}

/**
 * A term's contribution to a passage's score, per unit of weight.
 * @example k1 .9, mean length: shift 0, penalty .9, tf 1 → 1 / 1.9 = .526
 */
export function termScore(tf: number, length: number, tables: Bm25Tables): number {
  const shifted = tf + tables.shifts[length]!;
  return shifted / (tf + tables.penalties[length]!) + tables.presence;
}

/** Lucene's formula with Anserini's parameters, as in published baselines. */
const DEFAULTS = { variant: "lucene", k1: 0.9, b: 0.4, delta: 0.5, analyzer: DEFAULT_ANALYZER };

/**
 * Checks options and finds the analyzer.
 *
 * @param where for messages: a recipe key or "index build".
 * @throws {ConfigError} RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY, PART_UNKNOWN.
 */
export function resolveBm25Options(
  options: Bm25Options,
  where: string,
): { analyzer: Analyzer; parameters: Bm25Parameters } {
  const given = parseOptions(bm25Options, options, where);
  const parameters = {
    variant: given.variant ?? DEFAULTS.variant,
    k1: given.k1 ?? DEFAULTS.k1,
    b: given.b ?? DEFAULTS.b,
    delta: given.delta ?? DEFAULTS.delta,
  };
  bm25Variants.get(parameters.variant, `${where}.variant`);
  return {
    analyzer: analyzers.get(given.analyzer ?? DEFAULTS.analyzer, `${where}.analyzer`),
    parameters,
  };
}
