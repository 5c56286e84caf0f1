import type { Retriever } from "./retriever.ts";

/** Finds nothing: what a policy achieves when searching never helps. */
export function noneRetriever(): Retriever {
  return {
    name: "none",
    fingerprint: "none",
    search: (queries, _k, { signal } = {}) => {
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      return Promise.resolve(queries.map(() => []));
    },
    close: () => Promise.resolve(),
  };
}
