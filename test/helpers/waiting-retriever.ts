import type { Retriever, SearchOptions } from "../../src/retrieval/retriever.ts";

/** A search that has begun. */
export interface WaitingSearch {
  queries: readonly string[];
  k: number;
  signal: AbortSignal | undefined;
  /** Answers it: one passage per query, the query its text. */
  answer: () => void;
  fail: (error: Error) => void;
}

/** A retriever whose searches wait for the test. */
export interface WaitingRetriever extends Retriever {
  /** Searches that have begun, in order; answered ones included. */
  readonly searches: WaitingSearch[];
  /** The next search, once it has begun. */
  next(): Promise<WaitingSearch>;
}

/** @param options.deaf does not stop when its signal is aborted. */
export function waitingRetriever({ deaf = false } = {}): WaitingRetriever {
  const searches: WaitingSearch[] = [];
  let taken = 0;
  let begun: () => void = () => undefined;
  return {
    name: "waiting",
    fingerprint: "waiting-1",
    searches,
    async next() {
      while (searches.length <= taken) await new Promise<void>((resolve) => (begun = resolve));
      taken += 1;
      return searches[taken - 1]!;
    },
    search: (queries, k, { signal }: SearchOptions = {}) =>
      new Promise((resolve, reject) => {
        const hit = (text: string) => ({ id: text, title: "", text, score: 1 });
        const answer = (): void => {
          resolve(queries.map((query) => [hit(query)]));
        };
        searches.push({ queries, k, signal, answer, fail: reject });
        if (!deaf) {
          signal?.addEventListener("abort", () => {
            reject(signal.reason as Error);
          });
        }
        begun();
      }),
    close: () => Promise.resolve(),
  };
}
