import { z } from "../../base/schema.ts";
import { type CrossEncoder, openCrossEncoder } from "../dense/cross-encoder.ts";
import { around, defineRetriever } from "../inner-retrievers.ts";
import { retrieverSchema, type Hit } from "../retriever.ts";
import { searchedText } from "../store/passage-store.ts";

/** Reorders the first hits of a retriever with a model that reads query and passage together. */
export const rerank = defineRetriever({
  name: "rerank",
  summary: "Another retriever's first hits, reordered by a cross-encoder.",
  options: z.strictObject({
    of: retrieverSchema,
    /** Folder or hub name of a cross-encoder in ONNX. */
    model: z.string(),
    /** Number of hits to rerank; later hits are dropped. */
    depth: z.int().min(1).default(50),
    /** Of query and passage together. */
    maxTokens: z.int().min(8).optional(),
  }),
  async open({ of, model, depth, maxTokens }, context) {
    const source = await context.open(of);
    const encoder = await openCrossEncoder(model, { maxTokens }).catch(async (error: unknown) => {
      await source.close();
      throw error;
    });
    const settings = { model: encoder.fingerprint, depth };
    return {
      ...around("rerank", [source], settings),
      async search(queries, k, asked) {
        const found = await source.search(queries, depth, asked);
        const results: Hit[][] = [];
        for (const [i, hits] of found.entries()) {
          const ordered = await reordered(encoder, { query: queries[i]!, hits }, asked?.signal);
          results.push(ordered.slice(0, k));
        }
        return results;
      },
      close: async () => {
        await Promise.all([source.close(), encoder.close()]);
      },
    };
  },
});

/** Equal scores stay in the order in which they were found. */
async function reordered(
  encoder: CrossEncoder,
  { query, hits }: { query: string; hits: readonly Hit[] },
  signal?: AbortSignal,
): Promise<Hit[]> {
  const scores = await encoder.score(query, hits.map(searchedText), signal);
  return hits.map((hit, i) => ({ ...hit, score: scores[i]! })).sort((a, b) => b.score - a.score);
}
