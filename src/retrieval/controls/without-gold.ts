import { parseOptions, z } from "../../base/schema.ts";
import { derivedFingerprint, joinedReads } from "../inner-retrievers.ts";
import type { InnerRetriever, RetrieverPart } from "../retriever-part.ts";

/**
 * What another retriever finds without the passages that `annotations.supportingPassages` of the asking task names; later
 * hits move up. Without an asker, or for a task that names none, nothing is left out.
 */
export function withoutGold(inner: InnerRetriever): RetrieverPart {
  const options = z.strictObject({ of: inner });
  return {
    name: "without-gold",
    summary: "Another retriever's hits less the gold passages: the control for guessing answers.",
    readsGold: true,
    options,
    async create(given, context) {
      const { of } = parseOptions(options, given, "without-gold");
      const full = await context.open(of);
      return {
        name: "without-gold",
        fingerprint: derivedFingerprint("without-gold", {}, [full]),
        ...joinedReads([full], ["supporting-passages"]),
        search: async (queries, k, asked = {}) => {
          const gold = queries.map(
            (_, i) => new Set(asked.askers?.[i]?.task.annotations.supportingPassages),
          );
          const most = Math.max(0, ...gold.map(({ size }) => size));
          const found = await full.search(queries, k + most, asked);
          return found.map((hits, i) => hits.filter(({ id }) => !gold[i]!.has(id)).slice(0, k));
        },
        close: () => full.close(),
      };
    },
  };
}
