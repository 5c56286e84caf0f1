import type {
  Hit,
  Retriever,
  SearchOptions,
  RetrieverContext,
} from "../../src/retrieval/retriever.ts";
import type { Passage } from "../../src/trajectory/task.ts";

/** Passages by id, with a title and a text of their own. */
export function passagesOf(...ids: string[]): Passage[] {
  return ids.map((id) => ({ id, title: `title ${id}`, text: `text ${id}` }));
}

/** Hits by id; scores count down to 1. */
export function hitsOf(...ids: string[]): Hit[] {
  return passagesOf(...ids).map((passage, i) => ({ ...passage, score: ids.length - i }));
}

/** Ids and scores of hits, `id score` each. */
export function shown(hits: readonly Hit[] = []): string[] {
  return hits.map(({ id, score }) => `${id} ${Number(score.toFixed(4))}`);
}

/** A retriever that finds the same passages for every query, and remembers what it was asked. */
export interface ListedRetriever extends Retriever {
  readonly asked: { queries: readonly string[]; k: number; options: SearchOptions }[];
  closed: boolean;
}

export function listed(ids: readonly string[], changes: Partial<Retriever> = {}): ListedRetriever {
  const hits = hitsOf(...ids);
  return {
    name: "listed",
    fingerprint: `listed-${ids.join("")}`,
    asked: [],
    closed: false,
    search(queries, k, options = {}) {
      this.asked.push({ queries, k, options });
      if (options.signal?.aborted === true) return Promise.reject(options.signal.reason as Error);
      return Promise.resolve(queries.map(() => hits.slice(0, k)));
    },
    close() {
      this.closed = true;
      return Promise.resolve();
    },
    ...changes,
  };
}

/** A context in which retrievers named in settings, whatever their names, are these, in order. */
export function contextOf(
  inner: readonly Retriever[],
  corpus?: readonly Passage[],
): RetrieverContext {
  let next = 0;
  return {
    corpus: corpus === undefined ? undefined : () => corpus,
    open: () => Promise.resolve(inner[next++ % inner.length]!),
  };
}
