import { expect, it } from "vitest";
import { bm25Search } from "../../../src/retrieval/bm25/bm25-search.ts";
import { resolveBm25Options } from "../../../src/retrieval/bm25/formula.ts";
import { memorySegment } from "../../../src/retrieval/bm25/memory-segment.ts";
import { plain } from "../../../src/text/analyzer.ts";

const { parameters } = resolveBm25Options({}, "test");
const passages = Array.from({ length: 300 }, (_, i) => ({
  id: String(i),
  title: "",
  text: `common word${i}`,
}));

/** A search whose cache takes some bytes, with the reads of postings. */
function watched(cacheBytes?: number) {
  const { segment } = memorySegment(passages, plain, parameters);
  let reads = 0;
  const postings = {
    ...segment.postings,
    read(from: number, to: number) {
      reads += 1;
      return segment.postings.read(from, to);
    },
  };
  const search = bm25Search([{ ...segment, postings }], parameters, cacheBytes);
  const readsOf = (word: string): number => {
    const before = reads;
    search.best([word], 1);
    return reads - before;
  };
  return { search, readsOf };
}

it("words that no passage has take no place in the cache, however many they are", () => {
  const { search, readsOf } = watched(10_000);
  expect(readsOf("common")).toBeGreaterThan(0);
  for (let i = 0; i < 1000; i++) expect(search.best([`unknown${i}`], 3)).toEqual([]);
  expect(readsOf("common")).toBe(0);
});

it("the terms used last stay in a full cache", () => {
  const { readsOf } = watched(10_000);
  for (let i = 0; i < 100; i++) {
    readsOf("common");
    readsOf(`word${i}`);
  }
  expect(readsOf("common")).toBe(0);
  expect(readsOf("word99")).toBe(0);
  expect(readsOf("word0")).toBeGreaterThan(0);
});
