import { z } from "../../base/schema.ts";

/** Options of a BM25 index. */
export const bm25Options = z.strictObject({
  /** Name of the formula. */
  variant: z.string().optional(),
  /** Saturation of a term's frequency: 0 means presence only. Anserini .9, Elasticsearch 1.2, bm25s 1.5. */
  k1: z.number().min(0).optional(),
  /** Length normalisation, from 0 (none) to 1 (full). Anserini .4, Elasticsearch and bm25s .75. */
  b: z.number().min(0).max(1).optional(),
  /** Value of a term's presence; only for BM25+ and BM25L. */
  delta: z.number().min(0).optional(),
  /** Name of the analyzer for passages and queries. */
  analyzer: z.string().optional(),
});

/** Options as written, before defaults. */
export type Bm25Options = z.input<typeof bm25Options>;
