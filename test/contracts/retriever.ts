import { describe, expect, it } from "vitest";
import type { Retriever } from "../../src/retrieval/retriever.ts";

/** What every retriever does, whatever it finds. `create` opens it over any corpus of at least two passages. */
export function retrieverContract(name: string, create: () => Promise<Retriever>): void {
  const withRetriever = async (use: (retriever: Retriever) => Promise<void>): Promise<void> => {
    const retriever = await create();
    try {
      await use(retriever);
    } finally {
      await retriever.close();
    }
  };

  describe(`retriever ${name}`, () => {
    it("answers every query in order, one list each, empty queries and none included", () =>
      withRetriever(async (retriever) => {
        const queries = ["capital of Norway", "", "rain"];
        const together = await retriever.search(queries, 2);
        expect(together).toHaveLength(3);
        for (const [i, query] of queries.entries()) {
          expect((await retriever.search([query], 2))[0]).toEqual(together[i]);
        }
        expect(await retriever.search([], 2)).toEqual([]);
      }));

    it("gives at most k hits, each passage once, best first", () =>
      withRetriever(async (retriever) => {
        for (const k of [1, 2, 50]) {
          const [hits = []] = await retriever.search(["the capital of Norway has much rain"], k);
          expect(hits.length).toBeLessThanOrEqual(k);
          expect(new Set(hits.map(({ id }) => id)).size).toBe(hits.length);
          const scores = hits.map(({ score }) => score);
          expect(scores).toEqual([...scores].sort((a, b) => b - a));
        }
      }));

    it("has the same fingerprint whenever it is opened over the same corpus", () =>
      withRetriever((first) =>
        withRetriever((second) => {
          expect(second.fingerprint).toBe(first.fingerprint);
          return Promise.resolve();
        }),
      ));

    it("stops when asked to", () =>
      withRetriever(async (retriever) => {
        const signal = AbortSignal.abort(new Error("stop"));
        await expect(retriever.search(["Oslo"], 1, { signal })).rejects.toThrow("stop");
      }));
  });
}
