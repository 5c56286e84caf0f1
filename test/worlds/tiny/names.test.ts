import { describe, expect, it } from "vitest";
import { english, plain } from "../../../src/text/analyzer.ts";
import { porterStem } from "../../../src/text/porter.ts";
import { KINDS, type Kind, NAME_WORDS, namer } from "../../../src/worlds/tiny/names.ts";
import { TINY_WORLD_SPLITS, type TinyWorldSplit } from "../../../src/worlds/tiny/permutation.ts";
import { NOUNS, RELATIONS } from "../../../src/worlds/tiny/relations.ts";
import { tinyWorldWords } from "../../../src/worlds/tiny/text.ts";

const all = (
  count: number,
  split: TinyWorldSplit,
  key: number,
  kind: Kind = "person",
): string[] => {
  const names = namer(kind, split, count, key);
  return Array.from({ length: count }, (_, i) => names.name(i));
};

describe("name words", () => {
  it("are 1024 distinct capitalised words of 3 to 8 letters", () => {
    expect(NAME_WORDS).toHaveLength(1024);
    expect(new Set(NAME_WORDS).size).toBe(NAME_WORDS.length);
    expect(NAME_WORDS.filter((word) => !/^[A-Z][a-z]{2,7}$/.test(word))).toEqual([]);
  });

  it("are left alone by a stemmer, so no two become one", () => {
    const changed = NAME_WORDS.filter(
      (word) => porterStem(word.toLowerCase()) !== word.toLowerCase(),
    );
    expect(changed).toEqual([]);
  });

  it("are one search term each under the analyzers for English", () => {
    for (const analyzer of [english, plain]) {
      const terms = NAME_WORDS.flatMap((word) => analyzer.analyze(word));
      expect(terms).toEqual(NAME_WORDS.map((word) => word.toLowerCase()));
    }
  });

  it("are no words of the language around them, not even by stem", () => {
    const language = RELATIONS.flatMap((r) => [
      ...r.wordings.flatMap(({ statement, query }) => [statement, query]),
      ...r.phrases,
      ...r.questions,
      r.label,
    ]);
    const words = [...language, ...Object.values(NOUNS).flat()].flatMap(tinyWorldWords);
    const stems = new Set(words.map((word) => porterStem(word.toLowerCase())));
    expect(NAME_WORDS.filter((word) => stems.has(porterStem(word.toLowerCase())))).toEqual([]);
  });
});

describe("namer", () => {
  it.each(KINDS)(
    "gives every %s of a split another two-word name while the supply lasts",
    (kind) => {
      const count = { person: 8100, town: 2000, region: 400, firm: 800, work: 2000, event: 400 }[
        kind
      ];
      const names = all(count, "train", 1, kind);
      expect(new Set(names).size).toBe(count);
      expect(names.every((name) => name.split(" ").length === 2)).toBe(true);
    },
  );

  it("shares no name between splits, whatever the seeds and sizes", () => {
    const names = TINY_WORLD_SPLITS.flatMap((split, i) => [
      ...all(8100, split, i),
      ...all(9000, split, 99 - i),
    ]);
    expect(new Set(names).size).toBe(4 * (8100 + 9000));
  });

  it("uses every word of both pools in every split", () => {
    for (const split of TINY_WORLD_SPLITS) {
      const words = new Set(all(8100, split, 3).flatMap((name) => name.split(" ")));
      expect(words.size).toBe(360);
    }
  });

  it("adds a middle word of another kind when two words are not enough", () => {
    const names = all(20_000, "dev", 5);
    expect(new Set(names).size).toBe(20_000);
    expect(names.every((name) => name.split(" ").length === 3)).toBe(true);
    const firsts = new Set(all(8100, "dev", 5).map((name) => name.split(" ")[0]));
    expect(names.some((name) => firsts.has(name.split(" ")[1]))).toBe(false);
  });

  it.each(KINDS)("can name a million people's share of %ss", (kind) => {
    const count = { person: 1e6, town: 25e4, region: 5e4, firm: 1e5, work: 25e4, event: 5e4 }[kind];
    const names = namer(kind, "base", count, 2);
    const some = Array.from({ length: 2000 }, (_, i) => names.name(count - 1 - i * 17));
    expect(new Set(some).size).toBe(2000);
  });

  it("gives other names under another key", () => {
    const first = new Set(all(1000, "test", 1));
    const shared = all(1000, "test", 2).filter((name) => first.has(name));
    expect(shared.length).toBeLessThan(250); // 1000 of 8100: about 123 by chance
  });

  it("finds others with the same first word", () => {
    const names = namer("person", "train", 4000, 8);
    const others = names.alike(11, 5);
    expect(others).toHaveLength(5);
    expect(new Set(others.map((i) => names.name(i).split(" ")[0]))).toEqual(
      new Set([names.name(11).split(" ")[0]]),
    );
    expect(others).not.toContain(11);
  });
});
