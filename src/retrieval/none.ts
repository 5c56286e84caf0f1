import type { Retriever } from "./retriever.ts";

/** Finds nothing: what a policy achieves when searching never helps. */
export function noneRetriever(): Retriever {
  return {
    name: "none",
    fingerprint: "none",
    search: (queries) => Promise.resolve(queries.map(() => [])),
    close: () => Promise.resolve(),
  };
}
