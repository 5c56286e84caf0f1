/** Damaged recipes, values of --set and dataset cards: each is checked, or refused with its place. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { ConfigError } from "../../src/base/errors.ts";
import { parseCard } from "../../src/data/cards/card.ts";
import { ODD_VALUES, runFuzzed } from "../helpers/fuzz.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { commandNamed } from "../helpers/run-command.ts";

const recipesCommand = commandNamed("recipes");

const folder = temporaryFolder();
const file = join(folder, "r.yaml");
const draw = random(21);
const pick = <T>(items: readonly T[]): T => items[draw.int(items.length)]!;

const RECIPE = `summary: A few steps in the tiny world.
base:
  seed: 3
  environment:
    name: search-qa
    protocol: search-r1
    tools: [{ name: corpus-search, topK: 2 }]
  budgets:
    - { scope: trajectory, unit: turns, limit: 4, onExhausted: forced-answer }
    - { scope: turn, unit: tokens, limit: 64, onExhausted: cut }
  rewards: [{ name: token-f1, weight: 1 }]
  algorithm:
    name: grpo
    steps: 4
    groupSize: 4
    optimizer: { learningRate: 1.0e-4 }
  evaluation:
    dataset: { name: tinyworld, split: test, people: 20, questions: 8 }
tiers:
  smoke: { algorithm: { steps: 2 } }
`;

const CARD = `summary: Questions.
for: testing
homepage: https://example.org
paper: https://example.org/paper
passages: none
license: CC0
trainable: true
defaultSplit: train
sources:
  web:
    about: Published.
    splits:
      train: { url: "https://example.org/train.jsonl", layout: hotpotqa, records: 3 }
`;

/** What YAML can say and a recipe does not. */
const SNIPPETS = [
  ...[
    "&a [*a]",
    "&a {x: *a}",
    "*none",
    "!env HOME",
    "!!binary aGk=",
    "!!js/function 'x'",
    "!!set {a}",
  ],
  ...[
    "{__proto__: {x: 1}}",
    "{constructor: 1}",
    "{toString: 1}",
    "{<<: {seed: 4}}",
    "? [a]",
    "{[a, b]: 1}",
  ],
  ...[
    ".nan",
    ".inf",
    "-.inf",
    "0x7fffffffffffffff",
    "9007199254740993",
    "1e400",
    "-0",
    "1_000",
    "012",
  ],
  ...[
    "2026-01-01",
    "~",
    "''",
    '"\\u0000"',
    '"\\x1b[31m"',
    "|\n  text",
    ">-\n  text",
    "%YAML 9.9",
    "---",
    "...",
  ],
  ...[
    "[".repeat(5000),
    "{a: ".repeat(5000),
    `"${"x".repeat(100_000)}"`,
    `[${"1,".repeat(30_000)}1]`,
  ],
  ...["\t", "\u0000", "\ufeff", "\u202e", "@", "`", "# only a comment", "yes", "on", "no"],
  `[${"&x [1], ".repeat(50)}*x]`,
  `{a: &b [1, 2, 3, 4, 5, 6, 7, 8, 9], c: &d [${"*b, ".repeat(9)}1], e: &f [${"*d, ".repeat(9)}1], g: [${"*f, ".repeat(9)}1]}`,
];

const counts = { checked: 0, refused: 0 };

async function check(text: string | Buffer, about: string): Promise<void> {
  await writeFile(file, text);
  const { status } = await runFuzzed(recipesCommand, ["recipes", "check", file], about);
  expect([0, 2, 3], about).toContain(status);
  counts[status === 0 ? "checked" : "refused"] += 1;
}

afterAll(() => {
  process.stdout.write(`recipes: ${JSON.stringify(counts)}\n`);
});

describe("a damaged recipe", () => {
  it("is whole before", async () => {
    await check(RECIPE, "whole");
    expect(counts.checked).toBe(1);
    expect(() => parseCard(CARD, "card", "card.yaml")).not.toThrow();
  });

  it("with a changed byte or a cut ends in a check or a coded error", async () => {
    for (let i = 0; i < 50; i++) {
      const bytes = Buffer.from(RECIPE);
      bytes[draw.int(bytes.length)] = draw.int(256);
      await check(i % 5 === 0 ? bytes.subarray(0, draw.int(bytes.length)) : bytes, `byte ${i}`);
    }
  });

  it("with an odd piece of YAML in the place of a value ends in a check or a coded error", async () => {
    for (const [i, snippet] of [...SNIPPETS, ...SNIPPETS].entries()) {
      const places = [...RECIPE.matchAll(/: (?!\{)[^,}\n]+/g)];
      const place = pick(places);
      const text =
        RECIPE.slice(0, place.index) + `: ${snippet}` + RECIPE.slice(place.index + place[0].length);
      await check(
        i % 4 === 0 ? `${RECIPE}${snippet}\n` : text,
        `${snippet.slice(0, 40)}, case ${i}`,
      );
    }
  });

  it("with odd values of --set ends in a check or a coded error", async () => {
    await writeFile(file, RECIPE);
    const keys = [
      "seed",
      "algorithm.groupSize",
      "budgets",
      "rewards.0.weight",
      "environment",
      "evaluation.dataset",
    ];
    for (const snippet of [...SNIPPETS, ...ODD_VALUES.map((each) => JSON.stringify(each))]) {
      const flag = `${pick([...keys, "__proto__.x", "constructor.name", "a.b.c", ""])}=${snippet}`;
      const args = ["recipes", "show", file, "--set", flag];
      const { status } = await runFuzzed(recipesCommand, args, flag.slice(0, 60));
      counts[status === 0 ? "checked" : "refused"] += 1;
    }
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});

it("a damaged card of a dataset is read, or refused with its line", () => {
  for (const [i, snippet] of [...SNIPPETS, ...SNIPPETS].entries()) {
    const place = pick([...CARD.matchAll(/: (?!\{)[^,}\n]+/g)]);
    const text =
      CARD.slice(0, place.index) + `: ${snippet}` + CARD.slice(place.index + place[0].length);
    try {
      parseCard(text, "card", "card.yaml");
      counts.checked += 1;
    } catch (error) {
      expect(error, `${snippet.slice(0, 40)}, case ${i}`).toBeInstanceOf(ConfigError);
      expect((error as Error).message).toMatch(/^card\.yaml/);
      counts.refused += 1;
    }
  }
});
