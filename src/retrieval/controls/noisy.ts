import { random, type Random } from "../../base/random.ts";
import { scheduled, valueAt, type Scheduled } from "../../base/schedule.ts";
import { z } from "../../base/schema.ts";
import type { Passage } from "../../trajectory/task.ts";
import { around, defineRetriever, derivedFingerprint } from "../inner-retrievers.ts";
import type { Hit, TrainingProgress, InnerRetriever, RetrieverPart } from "../retriever.ts";
import { readCorpus } from "./corpus-at-hand.ts";
import { distinctDraws } from "./distinct-draws.ts";

/**
 * Another retriever's hits, a share of them replaced by distractors. Which ones depends on seed, query and rank alone, so a
 * query always has the same reply at the same rate, and what is replaced at a rate is replaced at every higher one. A
 * distractor takes over the position and the score of the hit that it replaces; where distractors run out, the hit is dropped.
 *
 * A rate that is a schedule follows the run's progress; outside training it has its last value.
 *
 * Source: `per: reply` with `{ schedule: exponential, from: 0, to: 0.5 }` is the useful/noisy switch of ZeroSearch (arXiv
 * 2505.04588, section 3.4). Different here: one query is noisy or not, where ZeroSearch draws anew at each call; and
 * distractors are passages, where ZeroSearch lets a model write them.
 */
export function noisy(inner: InnerRetriever): RetrieverPart {
  const options = z
    .strictObject({
      of: inner,
      /** Probability that a hit (or a reply) is replaced. */
      rate: scheduled(z.number().min(0).max(1)),
      /** What is noisy: each hit on its own, or whole replies. */
      per: z.enum(["hit", "reply"]).default("hit"),
      /** Distractors: what the other retriever ranks below the hits shown, or any passages of the corpus at hand but those hits. */
      from: z.enum(["ranks", "corpus"]).default("ranks"),
      /** With `from: ranks`: how many ranks below; 100 when absent. */
      window: z.int().min(1).optional(),
      seed: z.int().min(0).default(0),
    })
    .refine(({ from, window }) => from === "ranks" || window === undefined, {
      message: "only `from: ranks` has a window",
      path: ["window"],
    });
  return defineRetriever({
    name: "noisy",
    summary: "Another retriever with a share of its hits replaced by distractors, by schedule too.",
    options,
    async open({ of, rate, per, from, seed, window = 100 }, context) {
      const corpus = from === "corpus" ? await readCorpus(context, "noisy") : undefined;
      const clean = await context.open(of);
      const made = [clean, ...(corpus === undefined ? [] : [corpus])];
      return {
        ...around("noisy", [clean], {}, typeof rate === "number" ? [] : ["progress"]),
        fingerprint: derivedFingerprint("noisy", { rate, per, from, seed, window }, made),
        search: async (queries, k, asked = {}) => {
          const found = await clean.search(queries, k + (corpus === undefined ? window : 0), asked);
          return queries.map((query, i) => {
            const hits = found[i]!.slice(0, k);
            const stream = random(seed).derive("noisy", query);
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
}

function rateAt(rate: Scheduled, progress: TrainingProgress | undefined): number {
  if (progress === undefined) return valueAt(rate, Infinity, 1);
  return valueAt(rate, progress.step, progress.totalSteps);
}

/** Random passages that are not among the hits. */
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
