import { parseOptions, z } from "../../base/schema.ts";
import { type Analyzer, analyzers } from "../../text/analyzer.ts";
import { type Bm25Parameters, bm25Variants } from "./formula.ts";

/** How a BM25 index is made. */
export const bm25Options = z.strictObject({
  /** Name of the formula. */
  variant: z.string().optional(),
  /** Saturation of a term's frequency: 0 counts presence only. Anserini .9, Elasticsearch 1.2, bm25s 1.5. */
  k1: z.number().min(0).optional(),
  /** Length normalisation, from 0 (none) to 1 (full). Anserini .4, Elasticsearch and bm25s .75. */
  b: z.number().min(0).max(1).optional(),
  /** What a term's presence is worth; BM25+ and BM25L only. */
  delta: z.number().min(0).optional(),
  /** Name of the analyzer of passages and queries. */
  analyzer: z.string().optional(),
});

/** Options as written; absent ones take their defaults. */
export type Bm25Options = z.input<typeof bm25Options>;

/** Lucene's formula with Anserini's numbers: what published baselines use. */
const DEFAULTS = { variant: "lucene", k1: 0.9, b: 0.4, delta: 0.5, analyzer: "english" };

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
