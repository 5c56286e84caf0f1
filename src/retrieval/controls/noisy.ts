import { random, type Random } from "../../base/random.ts";
import { scheduled, valueAt, type Scheduled } from "../../base/schedule.ts";
import { z } from "../../base/schema.ts";
import type { Passage } from "../../trajectory/task.ts";
import {
  around,
  defineRetriever,
  derivedFingerprint,
  retrieverSchema,
  type Hit,
  type TrainingProgress,
} from "../retriever.ts";
import { readCorpus, distinctDraws } from "./corpus-at-hand.ts";

/**
 * Another retriever's hits, with a share of them replaced by distractors. Seed, query and rank determine which ones, so a
 * query always has the same reply at the same rate, and a higher rate replaces a superset. With `draw: call` the call's seed counts as
 * well: the same query may succeed when it is sent again. A distractor gets the rank and the score of the hit it replaces; without distractors, the hit is dropped.
 *
 * A scheduled rate follows the run's progress; outside training it has its last value.
 *
 * Source: `per: reply` with `{ schedule: exponential, from: 0, to: 0.5 }` is the useful/noisy switch of ZeroSearch (arXiv
 * 2505.04588, section 3.4). ZeroSearch draws at each call, as `draw: call`. Different here:
 * distractors are passages, where ZeroSearch generates them with a model.
 */
export const noisy = defineRetriever({
  name: "noisy",
  summary:
    "Another retriever with a share of its hits replaced by distractors; the share may follow a schedule.",
  options: z
    .strictObject({
      of: retrieverSchema,
      /** Probability that a hit (or a reply) is replaced. */
      rate: scheduled(z.number().min(0).max(1)),
      /** Unit of replacement: single hits, or whole replies. */
      per: z.enum(["hit", "reply"]).default("hit"),
      /** Source of distractors: the other retriever's lower ranks, or random passages of the corpus other than the hits. */
      from: z.enum(["ranks", "corpus"]).default("ranks"),
      /** With `from: ranks`: number of lower ranks; default 100. */
      window: z.int().min(1).optional(),
      /** Whether equal queries have equal replies, or each call of a rollout has a draw of its own. */
      draw: z.enum(["query", "call"]).default("query"),
      seed: z.int().min(0).default(0),
    })
    .refine(({ from, window }) => from === "ranks" || window === undefined, {
      message: "only `from: ranks` has a window",
      path: ["window"],
    }),
  async open({ of, rate, per, from, draw, seed, window = 100 }, context) {
    const corpus = from === "corpus" ? await readCorpus(context, "noisy") : undefined;
    const clean = await context.open(of);
    const made = [clean, ...(corpus === undefined ? [] : [corpus])];
    return {
      ...around("noisy", [clean], {}, [
        ...(typeof rate === "number" ? [] : ["progress" as const]),
        ...(draw === "query" ? [] : ["seed" as const]),
      ]),
      fingerprint: derivedFingerprint("noisy", { rate, per, from, draw, seed, window }, made),
      search: async (queries, k, asked = {}) => {
        const found = await clean.search(queries, k + (corpus === undefined ? window : 0), asked);
        return queries.map((query, i) => {
          const hits = found[i]!.slice(0, k);
          const ofQuery = random(seed).derive("noisy", query);
          const call = asked.contexts?.[i]?.seed ?? 0;
          const stream = draw === "query" ? ofQuery : ofQuery.derive("call", call);
          const share = rateAt(rate, asked.contexts?.[i]?.progress);
          const isNoisy = hits.map(
            (_, rank) => stream.derive("replaced", per === "hit" ? rank : 0).next() < share,
          );
          const distractors =
            corpus === undefined
              ? stream.derive("distractors").shuffle(found[i]!.slice(k)).values()
              : othersOf(corpus.passages, hits, stream.derive("distractors"));
          return replaced(hits, isNoisy, distractors);
        });
      },
    };
  },
});

function rateAt(rate: Scheduled, progress: TrainingProgress | undefined): number {
  if (progress === undefined) return valueAt(rate, Infinity, 1);
  return valueAt(rate, progress.step, progress.totalSteps);
}

function* othersOf(
  passages: readonly Passage[],
  hits: readonly Hit[],
  stream: Random,
): Generator<Passage> {
  const shown = new Set(hits.map(({ id }) => id));
  for (const position of distinctDraws(passages.length, stream)) {
    const passage = passages[position]!;
    if (!shown.has(passage.id)) yield passage;
  }
}

function replaced(
  hits: readonly Hit[],
  isNoisy: readonly boolean[],
  distractors: Iterator<Passage>,
): Hit[] {
  return hits.flatMap((hit, rank) => {
    if (!isNoisy[rank]!) return hit;
    const next = distractors.next();
    return next.done === true ? [] : { ...next.value, score: hit.score };
  });
}
