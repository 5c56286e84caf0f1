import { parseOptions, z } from "../../base/schema.ts";
import type { Retriever, RetrieverPart } from "../retriever.ts";

const options = z.strictObject({});

/** Finds nothing: what a policy achieves when searching never helps. */
export const none: RetrieverPart = {
  name: "none",
  summary: "Finds nothing: the control for whether retrieval helps at all.",
  readsGold: false,
  options,
  create: async (given) => {
    parseOptions(options, given, "none");
    return Promise.resolve(noneRetriever());
  },
};

/** The retriever itself, for those that need no settings. */
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
