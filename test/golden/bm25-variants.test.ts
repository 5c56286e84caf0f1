import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import { exactBm25 } from "../../src/retrieval/bm25/exact-bm25.ts";
import { memoryStore } from "../../src/retrieval/store/passage-file.ts";
import { english } from "../../src/text/analyzer.ts";
import type { Passage } from "../../src/trajectory/task.ts";

interface Golden {
  tolerance: number;
  passages: (Passage & { terms: string[] })[];
  queries: { text: string; terms: string[] }[];
  scores: {
    variant: string;
    k1: number;
    b: number;
    delta: number;
    /** Per query [position, score] of every passage with one of its terms. */
    queries: { matching: [number, number][] }[];
  }[];
}

const { tolerance, passages, queries, scores } = JSON.parse(
  await readFile(new URL("bm25-variants.json", import.meta.url), "utf8"),
) as Golden;

/** bm25s lists passages whose score is 0; a search never finds them. */
function scoresByPosition(matching: readonly [number, number][]): Map<number, number> {
  return new Map(matching.filter(([, score]) => score > 0));
}

describe("BM25's variants", () => {
  it.each(scores)(
    "$variant, k1 $k1, b $b, delta $delta: bm25s's scores, found by the index and by the formula",
    async ({ queries: expected, ...parameters }) => {
      const retriever = buildBm25(passages, parameters);
      const positions = new Map(passages.map(({ id }, i) => [id, i]));
      const results = await retriever.search(
        queries.map(({ text }) => text),
        passages.length,
      );
      const exact = exactBm25(memoryStore(passages), english, parameters, {
        queries: queries.map(({ terms }) => terms),
      });
      expected.forEach(({ matching }, i) => {
        const wanted = scoresByPosition(matching);
        const found = results[i]!.map(({ id, score }) => ({ position: positions.get(id)!, score }));
        for (const hits of [found, exact[i]!]) {
          expect(hits).toHaveLength(wanted.size);
          for (const { position, score } of hits) {
            expect(Math.abs(score - wanted.get(position)!)).toBeLessThan(tolerance);
          }
          const ranked = hits.map(({ score }) => score);
          expect(ranked).toEqual([...ranked].sort((x, y) => y - x));
        }
      });
    },
  );

  it("are analysed into the terms that were scored", () => {
    for (const { title, text, terms } of passages) {
      expect(english.analyze(`${title} ${text}`)).toEqual(terms);
    }
    for (const { text, terms } of queries) expect(english.analyze(text)).toEqual(terms);
  });
});
