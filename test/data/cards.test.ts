import { describe, expect, it } from "vitest";
import { allCards, parseCard, readCard, sourceOf, splitOf } from "../../src/data/cards/card.ts";
import { cardNames } from "../../src/data/cards/card-names.ts";
import { dataFolder, splitFileName, fileAddress } from "../../src/data/cards/dataset-place.ts";
import { corpusLayouts, taskLayouts } from "../../src/data/layouts/index.ts";
import { errorWith } from "../helpers/error-with.ts";

const cards = allCards();

describe("the cards in datasets/", () => {
  it("are of the datasets that search agents and mathematical reasoning are measured on", () => {
    expect(cardNames("questions")).toEqual([
      ...["2wikimultihopqa", "aime24", "aime25", "ambignq", "amc23", "bamboogle"],
      ...["dapo-math-17k", "deepscaler", "fever", "gsm8k", "hotpotqa", "math", "math-500"],
      ...["minerva-math", "musique", "nq", "olympiadbench", "one-shot-rlvr"],
      ...["popqa", "popqa-smartrag", "r1-searcher", "r1-searcher-2wiki", "r1-searcher-hotpotqa"],
      ...["r1-searcher-musique", "strategyqa", "tool-star-2wiki", "tool-star-hotpotqa"],
      ...["tool-star-musique", "triviaqa", "webquestions"],
    ]);
    expect(cardNames("corpus")).toEqual(["wiki18"]);
  });

  it("state the published sizes", () => {
    const sizes = cards.map((card) => {
      const { source } = sourceOf(card, undefined, "");
      const all = Object.entries(source.splits).map(([split, { records }]) => [split, records]);
      return [card.name, Object.fromEntries(all) as Record<string, number>];
    });
    expect(Object.fromEntries(sizes)).toEqual({
      "2wikimultihopqa": { train: 167_454, dev: 12_576 },
      aime24: { test: 30 },
      aime25: { test: 30 },
      ambignq: { train: 19_379, dev: 5_856 },
      amc23: { test: 40 },
      bamboogle: { test: 125 },
      "dapo-math-17k": { train: 17_398, "train-en": 14_116 },
      deepscaler: { train: 40_315 },
      fever: { train: 145_449, dev: 19_998, "dev-paper": 9_999, "test-paper": 9_999 },
      gsm8k: { train: 7_473, test: 1_319 },
      math: { train: 7_500, test: 5_000 },
      "math-500": { test: 500 },
      "minerva-math": { test: 272 },
      olympiadbench: { test: 675 },
      "one-shot-rlvr": { "dsr-sub": 1_209, pi1: 128, pi13: 128, "pi1-pi13": 128 },
      hotpotqa: { train: 90_447, dev: 7_405, "dev-fullwiki": 7_405 },
      musique: { train: 19_938, dev: 2_417, "train-full": 39_876, "dev-full": 4_834 },
      nq: { train: 87_925, test: 3_610 },
      popqa: { test: 14_267 },
      "popqa-smartrag": { train: 13_554, test: 713 },
      "r1-searcher": { first: 350, second: 8_148 },
      "r1-searcher-2wiki": { dev: 500 },
      "r1-searcher-hotpotqa": { dev: 500 },
      "r1-searcher-musique": { dev: 500 },
      strategyqa: { train: 2_290 },
      "tool-star-2wiki": { test: 200 },
      "tool-star-hotpotqa": { test: 200 },
      "tool-star-musique": { test: 200 },
      triviaqa: { train: 78_785, dev: 8_837, test: 11_313 },
      webquestions: { train: 3_778, test: 2_032 },
      wiki18: { corpus: 21_015_324 },
    });
  });

  it.each(cards.map((card) => [card.name, card] as const))(
    "%s: names layouts of its kind, an address for every file, and a corpus that has a card",
    (_, card) => {
      const known = card.kind === "corpus" ? corpusLayouts : taskLayouts;
      for (const { splits } of Object.values(card.sources)) {
        for (const [split, file] of Object.entries(splits)) {
          expect(known.names).toContain(file.layout);
          expect(fileAddress(file.url, {}).url.protocol).toMatch(/^https?:$/);
          expect(splitFileName(split, file)).toMatch(
            /^[a-z0-9-]+\.((jsonl|json|tsv)(\.gz)?|parquet)$/,
          );
          const isArchive = /\.(zip|tar\.gz)(\?|$)/.test(file.url);
          expect(file.member !== undefined).toBe(isArchive);
        }
      }
      if (card.corpus !== undefined) expect(readCard(card.corpus).kind).toBe("corpus");
      expect(card.summary.length).toBeLessThan(100);
    },
  );

  it("keep sets that are only measured on out of training", () => {
    expect(cards.filter(({ trainable }) => !trainable).map(({ name }) => name)).toEqual([
      ...["aime24", "aime25", "amc23", "bamboogle", "math-500", "minerva-math", "olympiadbench"],
    ]);
  });
});

describe("parseCard", () => {
  const good = `
summary: s
for: f
homepage: https://a.example
paper: https://b.example
license: MIT
defaultSplit: test
passages: none
sources:
  original:
    about: a
    splits:
      test: { url: "https://a.example/t.jsonl", layout: plain, records: 3 }
`;

  it("fills in what a card leaves out", () => {
    expect(parseCard(good, "x", "x.yaml")).toMatchObject({ trainable: true, kind: "questions" });
  });

  it.each([
    [
      "layout: plain",
      "layout: plane",
      "RECIPE_BAD_VALUE",
      /^x\.yaml:13: sources\.original\.splits\.test\.layout is "plane": allowed/,
    ],
    ["records: 3", "records: 0", "RECIPE_BAD_VALUE", /records is 0: expected at least 1/],
    ["https://a.example/t.jsonl", "ftp://a/t", "RECIPE_BAD_VALUE", /url is "ftp:.*hub:OWNER\/NAME/],
    ["records: 3", "records: 3, sha256: abc", "RECIPE_BAD_VALUE", /expected 64 hexadecimal digits/],
    [
      "defaultSplit: test",
      "defaultSplit: dev",
      "RECIPE_BAD_VALUE",
      /^x\.yaml:7: defaultSplit is "dev"; the first source has no such split/,
    ],
    [
      "license: MIT",
      "licence: MIT",
      "RECIPE_UNKNOWN_KEY",
      /licence is not a key here\. Did you mean "license"/,
    ],
    ["license: MIT", "license: [", "RECIPE_NOT_YAML", /^x\.yaml:/],
  ] as const)("names the line when %s is %s", (from, to, code, message) => {
    expect(() => parseCard(good.replace(from, to), "x", "x.yaml")).toThrow(
      errorWith(code, message),
    );
  });

  it("names the sources and splits that there are", () => {
    const card = parseCard(good, "x", "x.yaml");
    expect(() => sourceOf(card, "hub", "--source")).toThrow(
      errorWith("PART_UNKNOWN", '--source is "hub"; x has no such source. Known: original.'),
    );
    expect(() => splitOf(card, sourceOf(card, undefined, ""), "dev", "--split")).toThrow(
      errorWith("PART_UNKNOWN", '--split is "dev"; x has no such split in its source original.'),
    );
    expect(() => readCard("hotpotq")).toThrow(
      errorWith("PART_UNKNOWN", 'dataset is "hotpotq"; no such dataset. Did you mean "hotpotqa"?'),
    );
  });
});

describe("fileAddress", () => {
  const at = (url: string, environment: NodeJS.ProcessEnv = {}): string =>
    fileAddress(url, environment).url.href;

  it("follows the hub's variables for files of the hub", () => {
    const url = "hub:org/set@abc/sub/t.jsonl";
    expect(at(url)).toBe("https://huggingface.co/datasets/org/set/resolve/abc/sub/t.jsonl");
    expect(at("hub:org/set/t.jsonl", { HF_ENDPOINT: "http://m/hf/" })).toBe(
      "http://m/hf/datasets/org/set/resolve/main/t.jsonl",
    );
    expect(fileAddress(url, { HF_TOKEN: "hf_x" }).settings.token).toBe("hf_x");
  });

  it("puts host and path behind AGENTRL_DATA_URL for all others, and sends no token", () => {
    const url = "https://a.example/x/t.zip?dl=1";
    expect(at(url)).toBe(url);
    expect(at(url, { AGENTRL_DATA_URL: "http://m:8/d/" })).toBe(
      "http://m:8/d/a.example/x/t.zip?dl=1",
    );
    expect(fileAddress(url, { HF_TOKEN: "hf_x" }).settings.token).toBeNull();
    expect(() => fileAddress(url, { AGENTRL_DATA_URL: "mirror" })).toThrow(
      errorWith("RECIPE_BAD_VALUE", 'AGENTRL_DATA_URL is "mirror"'),
    );
  });

  it("keeps datasets in AGENTRL_DATA, else in the user's cache", () => {
    expect(dataFolder({ AGENTRL_DATA: "/d" })).toBe("/d");
    expect(dataFolder({ XDG_CACHE_HOME: "/c" })).toBe("/c/agentrl/datasets");
    expect(dataFolder({})).toMatch(/\/\.cache\/agentrl\/datasets$/);
  });
});
