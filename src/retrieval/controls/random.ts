import { random as seeded } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { Passage } from "../../trajectory/task.ts";
import { defineRetriever, derivedFingerprint, type Hit } from "../retriever.ts";
import { readCorpus, distinctDraws } from "./corpus-at-hand.ts";

const options = z.strictObject({ seed: z.int().min(0).default(0) });

/**
 * Random passages of the corpus, drawn by seed and query: a query always has the same hits, and fewer hits are a prefix
 * of more. The passages are kept in memory; scores are 1 / rank and have no meaning.
 *
 * Source: the random-noise engine of arXiv 2505.15117, with which a policy learns to stop searching. Different here: a
 * query always has the same passages.
 */
export const random = defineRetriever({
  name: "random",
  summary: "Random passages of the corpus: the control for whether the hits matter.",
  options,
  async open({ seed }, context) {
    const { passages, fingerprint } = await readCorpus(context, "random");
    return {
      fingerprint: derivedFingerprint("random", { seed }, [{ fingerprint }]),
      // eslint-disable-next-line @typescript-eslint/require-await -- an abort must reject, not throw
      search: async (queries, k, { signal } = {}) => {
        signal?.throwIfAborted();
        return queries.map((query) => drawHits(passages, k, seeded(seed).derive("random", query)));
      },
    };
  },
});

function drawHits(
  passages: readonly Passage[],
  k: number,
  stream: ReturnType<typeof seeded>,
): Hit[] {
  const hits: Hit[] = [];
  if (k < 1) return hits;
  for (const position of distinctDraws(passages.length, stream)) {
    hits.push({ ...passages[position]!, score: 1 / (hits.length + 1) });
    if (hits.length === k) break;
  }
  return hits;
}
