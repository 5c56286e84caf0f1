import { z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { around, defineRetriever, openAll, retrieverSchema, type Hit } from "../retriever.ts";
import { readCorpus } from "./corpus-at-hand.ts";

/**
 * The task's gold passages for any query: those in `annotations.supportingPassages`, in the
 * order of the chain, looked up in the task's context and then in the corpus; unknown ids are skipped.
 * With `of`, that retriever's other hits follow. Scores are 1 / rank.
 *
 * Without a search context, or for a task without supporting passages, only the hits of `of` remain. A recipe
 * rejects datasets without any supporting passages.
 */
export const oracle = defineRetriever({
  name: "oracle",
  summary: "The task's own gold passages: the control for what perfect search would give.",
  readsGold: true,
  options: z.strictObject({
    /** Fills the rest of k after the gold passages. */
    of: retrieverSchema.optional(),
  }),
  async open({ of }, context) {
    // The contexts may contain all passages, so a missing corpus is not an error.
    const corpus = context.corpus === undefined ? undefined : await readCorpus(context, "oracle");
    const byId = new Map(corpus?.passages.map((passage) => [passage.id, passage]));
    const rest = of === undefined ? [] : await openAll([of], context);
    return {
      ...around("oracle", rest, corpus?.fingerprint ?? null, ["supporting-passages"]),
      search: async (queries, k, asked = {}) => {
        asked.signal?.throwIfAborted();
        const [filler] = await Promise.all(rest.map((each) => each.search(queries, k, asked)));
        return queries.map((_, i) => {
          const task = asked.contexts?.[i]?.task;
          const gold = task === undefined ? [] : goldPassages(task, byId);
          return ranked([...gold, ...(filler?.[i] ?? [])], k);
        });
      },
    };
  },
});

function goldPassages({ annotations }: Task, corpus: ReadonlyMap<string, Passage>): Passage[] {
  const { supportingPassages = [], context = [] } = annotations;
  return supportingPassages.flatMap(
    (id) => context.find((passage) => passage.id === id) ?? corpus.get(id) ?? [],
  );
}

function ranked(passages: readonly Passage[], k: number): Hit[] {
  const once = new Map<string, Passage>();
  for (const passage of passages) if (!once.has(passage.id)) once.set(passage.id, passage);
  return [...once.values()].slice(0, k).map((passage, i) => ({ ...passage, score: 1 / (i + 1) }));
}

/**
 * Another retriever's hits without the task's gold passages (`annotations.supportingPassages`); later
 * hits move up. Without a search context, or for a task without supporting passages, no hit is removed.
 */
export const withoutGold = defineRetriever({
  name: "without-gold",
  summary: "Another retriever's hits without the gold passages: the control for guessing answers.",
  readsGold: true,
  options: z.strictObject({ of: retrieverSchema }),
  async open({ of }, context) {
    const full = await context.open(of);
    return {
      ...around("without-gold", [full], {}, ["supporting-passages"]),
      search: async (queries, k, asked = {}) => {
        const gold = queries.map(
          (_, i) => new Set(asked.contexts?.[i]?.task.annotations.supportingPassages),
        );
        const most = Math.max(0, ...gold.map(({ size }) => size));
        const found = await full.search(queries, k + most, asked);
        return found.map((hits, i) => hits.filter(({ id }) => !gold[i]!.has(id)).slice(0, k));
      },
    };
  },
});
