import { describe, expect, it } from "vitest";
import {
  openTermDictionary,
  readVarint,
  termDictionaryWriter,
  writeVarint,
} from "../../../src/retrieval/bm25/term-dictionary.ts";
import { memoryFile, memoryWriter } from "../../../src/retrieval/store/checked-file.ts";
import { errorWith } from "../../helpers/error-with.ts";

/** A dictionary of these terms, in order; term i is in i + 1 passages and has 8 · (i % 5 + 1) bytes of postings. */
function dictionaryOf(terms: readonly string[], count = terms.length) {
  const [out, blocks] = [memoryWriter(), memoryWriter()];
  const writer = termDictionaryWriter(out, blocks);
  terms.forEach((term, i) => {
    writer.append(term, i + 1, 8 * ((i % 5) + 1));
  });
  writer.end();
  expect(writer.count).toBe(terms.length);
  return openTermDictionary(memoryFile(out.take()), memoryFile(blocks.take()), count);
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => `term${String(i).padStart(6, "0")}`);

describe("a term dictionary", () => {
  it.each([0, 1, 63, 64, 65, 127, 128, 129, 1000])(
    "finds each of %i terms, and no other",
    (count) => {
      const terms = numbered(count);
      const dictionary = dictionaryOf(terms);
      let offset = 0;
      terms.forEach((term, i) => {
        const bytes = 8 * ((i % 5) + 1);
        expect(dictionary.find(term)).toEqual({ row: i, df: i + 1, offset, bytes });
        expect(dictionary.find(`${term}a`)).toBeNull();
        offset += bytes;
      });
      for (const absent of ["", "a", "term", "zzz", "\uffff"]) {
        expect(dictionary.find(absent)).toBeNull();
      }
      expect([...dictionary.entries()].map(({ term }) => term)).toEqual(terms);
    },
  );

  it("keeps the order of UTF-16 units, in which characters beyond 65 535 come before some below", () => {
    const terms = ["a", "z", "é", "ß", "ñandú", "日本", "語", "🦊", "🦊a", "ﬁ", "\uffee"].sort();
    expect(terms.indexOf("🦊")).toBeLessThan(terms.indexOf("ﬁ"));
    // Blocks of 64: the odd ones are first, last and in the middle of some.
    const all = [...numbered(100), ...terms.flatMap((term) => numbered(30).map((n) => term + n))];
    const sorted = [...new Set([...all, ...terms])].sort();
    const dictionary = dictionaryOf(sorted);
    sorted.forEach((term, row) => {
      expect(dictionary.find(term)?.row).toBe(row);
    });
    expect([...dictionary.entries()].map(({ term }) => term)).toEqual(sorted);
  });

  it("holds terms of 255 units of three bytes, a whole block of them", () => {
    const terms = Array.from({ length: 130 }, (_, i) =>
      String.fromCharCode(0x4e00 + i).repeat(255),
    );
    const dictionary = dictionaryOf(terms);
    terms.forEach((term, row) => {
      expect(dictionary.find(term)?.row).toBe(row);
    });
  });

  it("is refused when it holds another number of terms than the manifest says", () => {
    expect(() => dictionaryOf(numbered(64), 65)).toThrow(
      errorWith("INDEX_CORRUPT", "contains 1 blocks for 65 terms"),
    );
  });
});

describe("varints", () => {
  it("give back every number up to 2⁵³", () => {
    const values = [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 32 + 5, 2 ** 53 - 1];
    const buffer = new Uint8Array(100);
    let end = 0;
    for (const value of values) end = writeVarint(buffer, end, value);
    const reader = { at: 0 };
    expect(values.map(() => readVarint(buffer, reader))).toEqual(values);
    expect(reader.at).toBe(end);
  });
});
