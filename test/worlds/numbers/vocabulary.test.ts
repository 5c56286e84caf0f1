import { describe, expect, it } from "vitest";
import { numberWorldVocabulary } from "../../../src/worlds/numbers/index.ts";

describe("numberWorldVocabulary", () => {
  it("has words with their space, digits and signs with and without it", () => {
    const words = numberWorldVocabulary();
    expect(words).toEqual(
      expect.arrayContaining([" lamps", " Check", " 4", "4", " +", "+", " print", "print", "\n"]),
    );
    expect(new Set(words).size).toBe(words.length);
    expect(words.filter((word) => /\d{2}/.test(word))).toEqual([]);
  });
});
