import { z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { around, defineRetriever, openAll } from "../inner-retrievers.ts";
import type { InnerRetriever, RetrieverPart, Hit } from "../retriever.ts";
import { readCorpus } from "./corpus-at-hand.ts";

/**
 * The gold passages of the task that asks, whatever the query: those that `annotations.supportingPassages` names, in the
 * order of the chain, looked up in the task's own context and then in the corpus at hand; an id that neither has is left out.
 * With `of`, that retriever's hits follow, gold passages among them skipped. Scores are 1 / rank.
 *
 * Without a search context, or for a task that names no supporting passages, there is nothing to find but what `of` finds. What opens
 * a recipe refuses a dataset none of whose questions names any.
 */
export function oracle(inner: InnerRetriever): RetrieverPart {
  const options = z.strictObject({
    /** Fills up what the gold passages leave of k. */
    of: inner.optional(),
  });
  return defineRetriever({
    name: "oracle",
    summary: "The asking task's own gold passages: the control for what perfect search would give.",
    readsGold: true,
    options,
    async open({ of }, context) {
      // The contexts may hold all that is needed: no corpus is no error.
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
}

function goldPassages({ annotations }: Task, corpus: ReadonlyMap<string, Passage>): Passage[] {
  const { supportingPassages = [], context = [] } = annotations;
  return supportingPassages.flatMap(
    (id) => context.find((passage) => passage.id === id) ?? corpus.get(id) ?? [],
  );
}

/** The first k, each passage once, scored by rank. */
function ranked(passages: readonly Passage[], k: number): Hit[] {
  const once = new Map<string, Passage>();
  for (const passage of passages) if (!once.has(passage.id)) once.set(passage.id, passage);
  return [...once.values()].slice(0, k).map((passage, i) => ({ ...passage, score: 1 / (i + 1) }));
}

/**
 * What another retriever finds without the passages that `annotations.supportingPassages` of the asking task names; later
 * hits move up. Without a search context, or for a task that names none, nothing is left out.
 */
export function withoutGold(inner: InnerRetriever): RetrieverPart {
  const options = z.strictObject({ of: inner });
  return defineRetriever({
    name: "without-gold",
    summary: "Another retriever's hits less the gold passages: the control for guessing answers.",
    readsGold: true,
    options,
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
}
