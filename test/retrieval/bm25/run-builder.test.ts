import { describe, expect, it } from "vitest";
import { bm25Tables } from "../../../src/retrieval/bm25/formula.ts";
import { mergePostings, runSource } from "../../../src/retrieval/bm25/merge-postings.ts";
import { postingsWriter } from "../../../src/retrieval/bm25/postings-format.ts";
import { runBuilder } from "../../../src/retrieval/bm25/run-builder.ts";
import {
  openTermDictionary,
  termDictionaryWriter,
} from "../../../src/retrieval/bm25/term-dictionary.ts";
import { separateMemory } from "../../../src/retrieval/bm25/sum-kernel.ts";
import { TermPostings } from "../../../src/retrieval/bm25/term-postings.ts";
import { memoryFile, memoryWriter } from "../../../src/retrieval/store/checked-file.ts";
import { searchedText } from "../../../src/retrieval/store/passage-file.ts";
import { plain } from "../../../src/text/analyzer.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { madeCorpus } from "../../helpers/made-corpus.ts";

const parameters = { variant: "lucene", k1: 0.9, b: 0.4, delta: 0.5 };

/** Merges runs that end after these many passages each. */
function merged(passages: readonly string[][], runs: readonly number[]) {
  const builder = runBuilder();
  const written = runs.map((size, i) => {
    const from = runs.slice(0, i).reduce((sum, each) => sum + each, 0);
    for (const terms of passages.slice(from, from + size)) builder.add(terms, "id");
    const out = memoryWriter();
    const lengths = builder.write(out);
    expect(builder.terms).toBe(0);
    return { base: from, lengths, file: memoryFile(out.take()) };
  });
  const lengths = Uint32Array.from(written.flatMap((run) => [...run.lengths]));
  expect([...lengths]).toEqual(passages.map((terms) => terms.length));
  const [terms, blocks, postings] = [memoryWriter(), memoryWriter(), memoryWriter()];
  const merging = mergePostings(
    written.map(({ file, base }) => runSource(file, base)),
    {
      dictionary: termDictionaryWriter(terms, blocks),
      postings: postingsWriter(postings, lengths, bm25Tables(parameters, 10, Math.max(...lengths))),
    },
  );
  let step = merging.next();
  while (step.done !== true) step = merging.next();
  return {
    counts: step.value,
    terms: terms.take(),
    blocks: blocks.take(),
    postings: postings.take(),
  };
}

const corpus = madeCorpus({ count: 3000, seed: 1, words: 9000, skew: 2 }).map((passage) =>
  plain.analyze(searchedText(passage)),
);

describe("runs", () => {
  const whole = merged(corpus, [3000]);
  it.each([[[1, 2999]], [[1500, 1500]], [[1000, 999, 1, 500, 500]], [Array<number>(30).fill(100)]])(
    "merge to the bytes of one run: %j passages",
    (runs) => {
      expect(merged(corpus, runs)).toEqual(whole);
    },
  );

  it("keep every term's passages and frequencies", () => {
    const { counts, terms, blocks, postings } = merged(corpus, [700, 1300, 1000]);
    const expected = new Map<string, Map<number, number>>();
    corpus.forEach((words, passage) => {
      for (const word of words) {
        const list = expected.get(word) ?? new Map<number, number>();
        list.set(passage, (list.get(passage) ?? 0) + 1);
        expected.set(word, list);
      }
    });
    const dictionary = openTermDictionary(memoryFile(terms), memoryFile(blocks), counts.terms);
    expect([...dictionary.entries()].map(({ term }) => term)).toEqual([...expected.keys()].sort());
    const lists = [...expected.values()];
    expect(counts.postings).toBe(lists.reduce((sum, { size }) => sum + size, 0));
    const [passages, frequencies] = [new Uint32Array(128), new Uint16Array(128)];
    for (const { term, ...entry } of dictionary.entries()) {
      const list = new TermPostings(
        { file: memoryFile(postings), ...entry },
        separateMemory,
        () => undefined,
      );
      const found: [number, number][] = [];
      for (let block = 0; block < list.skips.blocks; block++) {
        list.read(block, passages, frequencies);
        for (let i = 0; i < list.skips.size(block); i++)
          found.push([passages[i]!, frequencies[i]!]);
      }
      expect(found).toEqual([...expected.get(term)!]);
    }
  });

  it("hold terms beyond ASCII, long ones, and passages without any", () => {
    const words = ["日本", "🦊", "ﬁ", "é", "z".repeat(255), "語".repeat(255)];
    const passages = [words, [], [...words, ...words], ["a"], []];
    expect(merged(passages, [1, 1, 3])).toEqual(merged(passages, [5]));
    expect(merged(passages, [2, 3]).counts).toEqual({ terms: 7, postings: 13 });
  });

  it("read on where a run is larger than what is read at once", () => {
    const common = Array.from({ length: 70_000 }, (_, i) => ["common", `rare${i}`]);
    expect(merged(common, [35_000, 35_000]).counts).toEqual({ terms: 70_001, postings: 140_000 });
  });

  it("count a term 65 535 times and no more", () => {
    const builder = runBuilder();
    builder.add(Array<string>(65_535).fill("x"), "most");
    expect(() => {
      builder.add(Array<string>(65_536).fill("x"), "too many");
    }).toThrow(
      errorWith("PASSAGE_TOO_LONG", 'passage "too many": one term occurs more than 65535'),
    );
  });
});
