import { describe, expect, it } from "vitest";
import { tagTokenizer } from "../helpers/search-world.ts";

const tokenizer = tagTokenizer();

describe("tokenizer", () => {
  it("gives back any text byte by byte, the empty one included", () => {
    for (const text of ["", "Oslo", " 雪 😀\n\n<search> capital</search>", "a  b\t\u0000"]) {
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    }
  });

  it("takes a known word or tag as one token, and adds none of its own", () => {
    const ids = tokenizer.encode("<search> capital of</search>");
    expect(ids.map((id) => new TextDecoder().decode(tokenizer.bytes(id)))).toEqual([
      ...["<search>", " capital", " of", "</search>"],
    ]);
  });

  it("knows its end token and writes special tokens out", () => {
    expect(tokenizer.endId).toBe(0);
    expect(tokenizer.decode([0])).toBe("<|end|>");
  });
});
