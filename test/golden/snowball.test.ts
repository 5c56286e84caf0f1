import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { languages } from "../../src/text/languages.ts";

const require = createRequire(import.meta.url);
const golden = JSON.parse(
  await readFile(new URL("snowball-stems.json", import.meta.url), "utf8"),
) as { stems: Record<string, Record<string, string>> };

describe("stems of @orama/stemmers", () => {
  it("are recorded for every language", () => {
    expect(Object.keys(golden.stems)).toEqual(languages.map(({ name }) => name));
  });

  it.each(Object.entries(golden.stems))("are PyStemmer's in %s", (language, stems) => {
    const { stemmer } = require(`@orama/stemmers/${language}`) as {
      stemmer: (word: string) => string;
    };
    expect(Object.keys(stems)).toHaveLength(200);
    expect(Object.fromEntries(Object.keys(stems).map((word) => [word, stemmer(word)]))).toEqual(
      stems,
    );
  });
});
