import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { bm25Tables, termScore } from "../../../src/retrieval/bm25/formula.ts";
import { BLOCK, postingsWriter } from "../../../src/retrieval/bm25/postings-format.ts";
import { separateMemory } from "../../../src/retrieval/bm25/sum-kernel.ts";
import { TermPostings } from "../../../src/retrieval/bm25/term-postings.ts";
import { memoryFile, memoryWriter } from "../../../src/retrieval/store/checked-file.ts";

interface List {
  passages: Uint32Array;
  frequencies: Uint16Array;
}

const parameters = { variant: "lucene", k1: 0.9, b: 0.4, delta: 0.5 };
const COUNT = 3_000_000;
const lengths = new Uint32Array(COUNT).map((_, i) => 1 + (i % 50));
const tables = bm25Tables(parameters, 25, 50);

/** @param gap the most between two passages. @param most frequency. */
function made(count: number, gap: number, most: number): List {
  const draw = random(`${count} ${gap} ${most}`);
  const passages = new Uint32Array(count);
  let passage = draw.int(gap);
  for (let i = 0; i < count; i++) {
    passages[i] = passage;
    passage += 1 + draw.int(gap);
  }
  const frequencies = Uint16Array.from({ length: count }, () => 1 + draw.int(most));
  if (count > 0) frequencies[draw.int(count)] = most;
  return { passages, frequencies };
}

const lists: [string, List][] = [];
for (const count of [1, 2, 3, 127, 128, 129, 255, 256, 257, 1000]) {
  for (const most of [1, 2, 255, 256, 65_535]) {
    lists.push([`${count} close, up to ${most}`, made(count, 3, most)]);
    lists.push([`${count} far, up to ${most}`, made(count, Math.floor(COUNT / 1100), most)]);
  }
}
lists.push(
  [
    "the last passage of all",
    { passages: Uint32Array.of(COUNT - 1), frequencies: Uint16Array.of(1) },
  ],
  ["one often", { passages: Uint32Array.of(5), frequencies: Uint16Array.of(300) }],
  ["65 535 apart", { passages: Uint32Array.of(0, 65_535), frequencies: Uint16Array.of(1, 1) }],
  ["65 536 apart", { passages: Uint32Array.of(0, 65_536), frequencies: Uint16Array.of(1, 2) }],
  ["beyond a chunk of blocks", made(64 * BLOCK + 130, 2, 300)],
  ["several chunks", made(200 * BLOCK + 1, 100, 3)],
);

/** All lists in one file, as a segment has them. */
function written() {
  const out = memoryWriter();
  const writer = postingsWriter(out, lengths, tables);
  const places = lists.map(([, { passages, frequencies }]) => {
    const offset = out.bytes;
    return { offset, bytes: writer.append(passages, frequencies, passages.length) };
  });
  return { file: memoryFile(out.take()), places };
}

describe("postings", () => {
  const { file, places } = written();
  const opened = lists.map(([name, list], i) => {
    const extent = { file, ...places[i]!, df: list.passages.length };
    return { name, list, postings: new TermPostings(extent, separateMemory, () => undefined) };
  });

  it("lie one after the other at multiples of 8", () => {
    places.forEach(({ offset, bytes }, i) => {
      expect(offset % 8).toBe(0);
      expect(offset + bytes).toBe(places[i + 1]?.offset ?? file.bytes);
    });
    // A single posting of frequency 1: its entry in the skip table; distance, impact and padding.
    expect(places[lists.findIndex(([name]) => name.startsWith("the last"))]!.bytes).toBe(16 + 8);
  });

  it.each(opened)("come back as they were: $name", ({ list, postings }) => {
    const passages = new Uint32Array(BLOCK);
    const frequencies = new Uint16Array(BLOCK);
    const all: List = { passages: new Uint32Array(0), frequencies: new Uint16Array(0) };
    const found = { passages: [] as number[], frequencies: [] as number[] };
    for (let block = 0; block < postings.skips.blocks; block++) {
      postings.read(block, passages, frequencies);
      const size = postings.skips.size(block);
      found.passages.push(...passages.subarray(0, size));
      found.frequencies.push(...frequencies.subarray(0, size));
      expect(postings.skips.last(block)).toBe(passages[size - 1]);
    }
    all.passages = Uint32Array.from(found.passages);
    all.frequencies = Uint16Array.from(found.frequencies);
    expect(all).toEqual(list);
  });

  it.each(opened)(
    "have bounds that no score exceeds, and none needlessly: $name",
    ({ list, postings }) => {
      let best = 0;
      for (let block = 0; block < postings.skips.blocks; block++) {
        const from = block * BLOCK;
        let most = 0;
        for (let i = from; i < from + postings.skips.size(block); i++) {
          most = Math.max(
            most,
            termScore(list.frequencies[i]!, lengths[list.passages[i]!]!, tables),
          );
        }
        expect(postings.skips.blockBound(block)).toBeGreaterThanOrEqual(most);
        expect(postings.skips.blockBound(block)).toBeLessThan(most * (1 + 2 ** -22));
        best = Math.max(best, postings.skips.blockBound(block));
      }
      expect(postings.skips.bound).toBe(best);
    },
  );

  it.each(opened)("are looked up by passage: $name", ({ list, postings }) => {
    const held = new Map(
      Array.from(list.passages, (passage, i) => [passage, list.frequencies[i]!]),
    );
    const draw = random("lookups");
    const asked = [...list.passages].flatMap((passage) => [passage - 1, passage, passage + 1]);
    for (let i = 0; i < 200; i++) asked.push(draw.int(COUNT));
    const blocks = Array.from({ length: postings.skips.blocks }, (_, block) => block);
    const lasts = blocks.map((block) => postings.skips.last(block));
    for (const passage of asked) {
      const block = lasts.findIndex((last) => last >= passage);
      if (passage < 0 || block < 0) continue;
      expect(postings.frequency(block, passage)).toBe(held.get(passage) ?? 0);
    }
  });

  it("tell how many bytes they keep", () => {
    let kept = 0;
    const last = places.length - 1;
    const df = lists[last]![1].passages.length;
    const postings = new TermPostings(
      { file, ...places[last]!, df },
      separateMemory,
      (bytes) => (kept += bytes),
    );
    const before = kept;
    for (let block = 0; block < postings.skips.blocks; block++) {
      postings.read(block, new Uint32Array(BLOCK), new Uint16Array(BLOCK));
    }
    expect(kept - before).toBeGreaterThanOrEqual(places[last]!.bytes - 16 * postings.skips.blocks);
  });
});
