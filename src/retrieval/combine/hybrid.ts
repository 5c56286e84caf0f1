import { z } from "../../base/schema.ts";
import { around, defineRetriever, openAll, retrieverSchema } from "../retriever.ts";
import { reciprocalRankFusion, normalizations, weightedFusion } from "./fusion.ts";

/** Several retrievers asked together and fused into one ranking: see `reciprocalRankFusion` and `weightedFusion`. */
export const hybrid = defineRetriever({
  name: "hybrid",
  summary: "Several retrievers fused into one ranking, by rank or by score.",
  options: z
    .strictObject({
      of: z.array(retrieverSchema).min(2),
      /** By rank (reciprocal-rank fusion) or by normalised score. */
      fusion: z.enum(["rrf", "weighted"]).default("rrf"),
      /** With `fusion: rrf`; default 60. */
      rrfK: z.number().min(0).optional(),
      /** One per retriever; default all 1. */
      weights: z.array(z.number().min(0)).optional(),
      /** With `fusion: weighted`; default min-max. */
      normalize: z.enum(normalizations).optional(),
      /** Hits requested from each; default 100, or more if more are wanted. */
      depth: z.int().min(1).optional(),
    })
    .refine(({ fusion, rrfK }) => fusion === "rrf" || rrfK === undefined, {
      message: "has an effect only with `fusion: rrf`",
      path: ["rrfK"],
    })
    .refine(({ fusion, normalize }) => fusion === "weighted" || normalize === undefined, {
      message: "has an effect only with `fusion: weighted`",
      path: ["normalize"],
    })
    .refine(({ of, weights }) => weights === undefined || weights.length === of.length, {
      message: "expected one weight per retriever in `of`",
      path: ["weights"],
    })
    .refine(({ weights }) => weights?.every((weight) => weight === 0) !== true, {
      message: "expected at least one weight above 0",
      path: ["weights"],
    }),
  async open({ of, ...settings }, context) {
    const { fusion, rrfK = 60, normalize = "min-max", weights, depth } = settings;
    const fused = await openAll(of, context);
    const ranking = fusion === "rrf" ? { rrfK } : { normalize };
    const shaping = { ...ranking, weights: weights ?? of.map(() => 1), depth: depth ?? null };
    return {
      ...around("hybrid", fused, { fusion, ...shaping }),
      search: async (queries, k, asked) => {
        const asking = depth ?? Math.max(100, k);
        const found = await Promise.all(fused.map((each) => each.search(queries, asking, asked)));
        return queries.map((_, i) => {
          const lists = found.map((replies) => replies[i]!);
          const hits =
            fusion === "rrf"
              ? reciprocalRankFusion(lists, { k: rrfK, weights })
              : weightedFusion(lists, { weights, normalize });
          return hits.slice(0, k);
        });
      },
    };
  },
});
