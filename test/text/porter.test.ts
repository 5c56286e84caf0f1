import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { porterStem } from "../../src/text/porter.ts";

describe("porterStem", () => {
  it.each([
    // Examples of the paper's steps, carried through to the end.
    ["caresses", "caress"],
    ["ponies", "poni"],
    ["cats", "cat"],
    ["feed", "feed"],
    ["agreed", "agre"],
    ["plastered", "plaster"],
    ["bled", "bled"],
    ["motoring", "motor"],
    ["conflated", "conflat"],
    ["hopping", "hop"],
    ["falling", "fall"],
    ["filing", "file"],
    ["happy", "happi"],
    ["sky", "sky"],
    ["relational", "relat"],
    ["generalizations", "gener"],
    ["hopefulness", "hope"],
    ["adoption", "adopt"],
    ["controlling", "control"],
    ["rate", "rate"],
    ["cease", "ceas"],
  ])("stems %s to %s", (word, stem) => {
    expect(porterStem(word)).toBe(stem);
  });

  it("leaves short words and words with other characters alone", () => {
    for (const word of ["as", "is", "b12s", "naïves", "москва"]) {
      expect(porterStem(word)).toBe(word);
    }
  });

  it("shortens -logi and -bli as Lucene does", () => {
    expect(porterStem("technology")).toBe("technolog");
    expect(porterStem("possibly")).toBe("possibl");
  });

  it("agrees with an independent implementation on a sample of real words", async () => {
    const golden = JSON.parse(
      await readFile(new URL("../golden/porter-stems.json", import.meta.url), "utf8"),
    ) as { stems: Record<string, string> };
    const words = Object.keys(golden.stems);
    expect(words.length).toBeGreaterThan(1000);
    expect(words.map((word) => `${word} ${porterStem(word)}`)).toEqual(
      words.map((word) => `${word} ${golden.stems[word] ?? ""}`),
    );
  });
});
