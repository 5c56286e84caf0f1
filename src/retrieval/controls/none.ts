import { z } from "../../base/schema.ts";
import { defineRetriever, type Retriever } from "../retriever.ts";

/** Finds nothing: shows what a policy achieves without any retrieval. */
export const none = defineRetriever({
  name: "none",
  summary: "Finds nothing: the control for whether retrieval helps at all.",
  options: z.strictObject({}),
  open: noneRetriever,
});

/** The retriever itself, which needs no settings. */
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
