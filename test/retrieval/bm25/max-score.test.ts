import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { resolveBm25Options, bm25Variants } from "../../../src/retrieval/bm25/formula.ts";
import { type Bm25Options } from "../../../src/retrieval/bm25/bm25-options.ts";
import { bm25Search } from "../../../src/retrieval/bm25/bm25-search.ts";
import { deadBits } from "../../../src/retrieval/bm25/dead-file.ts";
import { exactBm25 } from "../../../src/retrieval/bm25/exact-bm25.ts";
import { memorySegment } from "../../../src/retrieval/bm25/memory-segment.ts";
import type { Segment } from "../../../src/retrieval/bm25/segment.ts";
import { memoryStore, searchedText } from "../../../src/retrieval/store/passage-file.ts";
import { plain } from "../../../src/text/analyzer.ts";
import type { Passage } from "../../../src/trajectory/task.ts";
import { madeCorpus, madeQueries } from "../../helpers/made-corpus.ts";
import { expectBestOf } from "../../helpers/same-ranking.ts";

/** A segment of which some passages are deleted. */
function segmentWithout(passages: Passage[], gone: number[], options: Bm25Options): Segment {
  const { parameters } = resolveBm25Options(options, "test");
  const { segment } = memorySegment(passages, plain, parameters);
  const lost = new Map<number, number>();
  let totalLength = 0;
  for (const position of gone) {
    const terms = plain.analyze(searchedText(passages[position]!));
    totalLength += terms.length;
    for (const term of new Set(terms)) {
      const { row } = segment.dictionary.find(term)!;
      lost.set(row, (lost.get(row) ?? 0) + 1);
    }
  }
  const dead = { positions: Uint32Array.from(gone), lost };
  return { ...segment, dead: { ...dead, bits: deadBits(dead, passages.length), totalLength } };
}

interface Case {
  /** Passages per segment. */
  sizes: number[];
  seed: number;
  options: Bm25Options;
  /** Every how manieth passage is deleted, on average; 0 for none. */
  deleted?: number;
  words?: number;
}

/** Compares the k best of the search with those of the formula, for several queries and k. */
function expectExact({ sizes, seed, options, deleted = 0, words = 500 }: Case): void {
  const draw = random(`deletions ${seed}`);
  const parts = sizes.map((count, i) => madeCorpus({ count, seed: `${seed}-${i}`, words }));
  const gone = parts.map((part) =>
    part.flatMap((_, position) => (deleted > 0 && draw.int(deleted) === 0 ? [position] : [])),
  );
  const segments = parts.map((part, i) => segmentWithout(part, gone[i]!, options));
  const { parameters } = resolveBm25Options(options, "test");
  const search = bm25Search(segments, parameters);
  const isDead = gone.flatMap((positions, i) => {
    const dead = new Set(positions);
    return parts[i]!.map((_, position) => dead.has(position));
  });
  const queries = madeQueries(15, { seed, words }).map((query) => plain.analyze(query));
  const exact = exactBm25(memoryStore(parts.flat()), plain, parameters, {
    queries,
    isDead: (position) => isDead[position]!,
  });
  queries.forEach((query, i) => {
    const all = exact[i]!.map(({ position, score }) => ({ id: position, score }));
    for (const k of [1, 3, 10, 50]) {
      const found = search.best(query, k).map(({ position, score }) => ({ id: position, score }));
      expectBestOf(all, found, k, `${JSON.stringify(options)} "${query.join(" ")}" k ${k}`);
    }
  });
}

describe("maxScore", () => {
  it.each([1, 31, 32, 33, 127, 128, 129, 4095, 4096, 4097, 8191, 8193])(
    "finds the k best of %i passages as the formula does",
    (count) => {
      expectExact({ sizes: [count], seed: count, options: {} });
    },
  );

  it.each(bm25Variants.names)("finds the k best under %s, whatever its numbers", (variant) => {
    for (const [seed, numbers] of [
      { k1: 0.9, b: 0.4 },
      { k1: 1.5, b: 0.75, delta: 1 },
      { k1: 0, b: 0 },
      { k1: 2, b: 1, delta: 0 },
    ].entries()) {
      // The first is longer than a window of 4096 passages.
      expectExact({ sizes: [seed === 0 ? 5000 : 1000], seed, options: { variant, ...numbers } });
    }
  });

  it.each(bm25Variants.names)(
    "searches segments as one corpus and deleted passages as if they had never been, under %s",
    (variant) => {
      expectExact({ sizes: [4500, 33, 1, 700], seed: 7, deleted: 5, options: { variant } });
      // Most are gone: document frequencies and the mean length move far from what bounds were computed with.
      expectExact({ sizes: [5000, 200], seed: 8, deleted: 1.25, options: { variant, b: 1 } });
    },
  );

  it("keeps bounds above scores when passages of another length join or leave", () => {
    const parameters = resolveBm25Options({ b: 1, k1: 2 }, "test").parameters;
    // The mean length of the first segment alone is 3; with the second it is far longer, so its scores grow.
    const short = madeCorpus({ count: 4200, seed: 1, longest: 4, words: 60 });
    const long = madeCorpus({ count: 300, seed: 2, longest: 400, words: 60 });
    const segments = [short, long].map((part) => memorySegment(part, plain, parameters).segment);
    const search = bm25Search(segments, parameters);
    const queries = madeQueries(20, { seed: 3, words: 60 }).map((query) => plain.analyze(query));
    const exact = exactBm25(memoryStore([...short, ...long]), plain, parameters, { queries });
    queries.forEach((query, i) => {
      const all = exact[i]!.map(({ position, score }) => ({ id: position, score }));
      const found = search.best(query, 10).map(({ position, score }) => ({ id: position, score }));
      expectBestOf(all, found, 10, query.join(" "));
    });
  });

  it("gives equal bits however many hits are asked for", () => {
    const parameters = resolveBm25Options({}, "test").parameters;
    const { segment } = memorySegment(madeCorpus({ count: 9000, seed: 4 }), plain, parameters);
    const search = bm25Search([segment], parameters);
    for (const query of madeQueries(30, { seed: 5 }).map((text) => plain.analyze(text))) {
      const all = search.best(query, 9000);
      for (const k of [1, 7, 40]) expect(search.best(query, k)).toEqual(all.slice(0, k));
    }
  });

  it("reads a small part of the postings when one rare word decides", () => {
    const count = 200_000;
    const parameters = resolveBm25Options({}, "test").parameters;
    // "common" is in every passage, once or twice; "rare" in three of them.
    const passages = Array.from({ length: count }, (_, i) => ({
      id: String(i),
      title: i % 7 === 6 ? "common" : "",
      text: i % 70_000 === 0 ? "common rare" : "common",
    }));
    const { segment } = memorySegment(passages, plain, parameters);
    let bytes = 0;
    const postings = {
      ...segment.postings,
      read: (from: number, to: number) => {
        bytes += to - from;
        return segment.postings.read(from, to);
      },
    };
    const search = bm25Search([{ ...segment, postings }], parameters);
    expect(search.best(["rare", "common"], 3).map(({ position }) => position)).toEqual([
      0, 70_000, 140_000,
    ]);
    const skipTables = 16 * Math.ceil(count / 128) + 16;
    expect(bytes - skipTables).toBeLessThan(segment.postings.bytes / 5);
    bytes = 0;
    search.best(["common"], count);
    // Asked for everything, it reads the rest.
    expect(bytes).toBeGreaterThan(segment.postings.bytes / 2);
  });
});
