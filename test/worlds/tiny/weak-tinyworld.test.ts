import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import { readQuestion } from "../../../src/worlds/tiny/reading.ts";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const world = tinyWorld({ seed: 7, split: "train", people: 300 });

/** Kind and relation that a question asks for. */
function categoryOf(question: string): string {
  const [reading] = readQuestion(question);
  if (reading === undefined || reading.type === "intersect") throw new Error(question);
  return reading.type === "bridge"
    ? `bridge${reading.chain.length} ${reading.chain.at(-1)?.name}`
    : `${reading.type} ${reading.relation.name}`;
}

/** Rows in which some categories are always wrong and all else right. */
async function rowsWith(isWeak: (category: string) => boolean, name = "rows.jsonl") {
  const rows = [...world.questions(400)].map(({ id, question }) =>
    JSON.stringify({ id, question, em: isWeak(categoryOf(question)) ? 0 : 1 }),
  );
  const path = join(folder, name);
  await writeFile(path, rows.join("\n"));
  return path;
}

async function categoriesOf(options: Record<string, unknown>): Promise<Record<string, number>> {
  const dataset = await openDataset({ name: "weak-tinyworld", seed: 8, ...options }, "test");
  const counts: Record<string, number> = {};
  for (const { question } of await dataset.tasks()) {
    const category = categoryOf(question);
    counts[category] = (counts[category] ?? 0) + 1;
  }
  return counts;
}

describe("dataset weak-tinyworld", () => {
  it("asks new questions of the categories that were wrong alone, by their share of what was", async () => {
    const weak = ["bridge2 person-birthplace", "bridge1 town-mayor"];
    const rows = await rowsWith((category) => weak.includes(category));
    const wrong = [...world.questions(400)].map(({ question }) => categoryOf(question));
    const [a, b] = weak.map((category) => wrong.filter((each) => each === category).length);
    expect(a! + b!).toBeGreaterThan(6);
    const counts = await categoriesOf({ rows, questions: 60 });
    const first = (60 * a!) / (a! + b!);
    expect(Math.abs(counts[weak[0]!]! - first)).toBeLessThan(1);
    expect(counts).toEqual({ [weak[0]!]: counts[weak[0]!], [weak[1]!]: 60 - counts[weak[0]!]! });
  });

  it("gives a category its share among its own questions where that is asked for", async () => {
    // Every category that is wrong is wrong always: equal rates, equal shares.
    const weak = ["bridge2 person-birthplace", "bridge1 town-mayor"];
    const rows = await rowsWith((category) => weak.includes(category));
    const counts = await categoriesOf({ rows, questions: 60, budget: "failure-rate" });
    expect(counts).toEqual({ [weak[0]!]: 30, [weak[1]!]: 30 });
  });

  it("takes kinds for categories where relations do not matter", async () => {
    const rows = await rowsWith((category) => category.startsWith("bridge3"));
    const counts = await categoriesOf({ rows, questions: 40, by: "kind" });
    const kinds = new Set(Object.keys(counts).map((category) => category.split(" ")[0]));
    expect([...kinds]).toEqual(["bridge3"]);
    expect(Object.keys(counts).length).toBeGreaterThan(3);
  });

  it("asks of another world, never twice about the same facts, under ids of their own", async () => {
    const rows = await rowsWith((category) => category.startsWith("bridge1"));
    const dataset = await openDataset(
      { name: "weak-tinyworld", seed: 8, people: 300, rows, questions: 300, distractors: 4 },
      "test",
    );
    const tasks = await dataset.tasks();
    expect(tasks).toHaveLength(300);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(300);
    const facts = tasks.map(({ annotations }) => JSON.stringify(annotations.supportingFacts));
    expect(new Set(facts).size).toBe(300);
    const other = tinyWorld({ seed: 8, split: "train", people: 300 });
    const texts = new Map([...other.passages()].map(({ id, text }) => [id, text]));
    for (const { annotations, references } of tasks) {
      expect(texts.get(annotations.supportingPassages!.at(-1)!)).toContain(references[0]);
      expect(annotations.context).toHaveLength(4);
    }
    expect(await dataset.tasks(20)).toEqual(tasks.slice(0, 20));
    expect(await dataset.tasks()).toEqual(tasks);
  });

  it("gives what a category has where it has fewer", async () => {
    const rows = await rowsWith((category) => category === "bridge1 region-governor");
    // 40 people make two regions.
    expect(await categoriesOf({ rows, people: 40, questions: 10 })).toEqual({
      "bridge1 region-governor": 2,
    });
  });

  it("changes its fingerprint with the rows", async () => {
    const open = async (isWeak: (category: string) => boolean) =>
      openDataset(
        { name: "weak-tinyworld", seed: 8, rows: await rowsWith(isWeak), questions: 5 },
        "test",
      );
    const [one, same, other] = [
      await open((category) => category.startsWith("bridge1")),
      await open((category) => category.startsWith("bridge1")),
      await open((category) => category.startsWith("bridge2")),
    ];
    expect(same.fingerprint).toBe(one.fingerprint);
    expect(other.fingerprint).not.toBe(one.fingerprint);
  });

  it("takes several epochs, and asks of them that a question was getting worse", async () => {
    const early = await rowsWith(() => false, "early.jsonl");
    const late = await rowsWith(() => true, "late.jsonl");
    // Right at first: reached the bound. Wrong twice: does not fall.
    await expect(categoriesOf({ rows: [early, late] })).rejects.toThrow(
      errorWith("DATA_EMPTY", /no weak question among 400: .* below 0\.5 and fell/),
    );
    await expect(categoriesOf({ rows: [late, late] })).rejects.toThrow(errorWith("DATA_EMPTY"));
    const counts = await categoriesOf({ rows: [late, late], falling: false, questions: 50 });
    expect(Object.keys(counts).length).toBeGreaterThan(10);
  });

  it("takes the visits of a training for epochs, with the dataset that it trained on", async () => {
    const of = { name: "tinyworld", seed: 7, split: "train", people: 300, questions: 400 };
    const tasks = [...world.questions(400)];
    // Questions of one hop fall from .4 to .2; those of two reach the half once; all others rise.
    const meansOf = (question: string): number[] => {
      const category = categoryOf(question);
      if (category.startsWith("bridge1")) return [0.4, 0.3, 0.2];
      return category.startsWith("bridge2") ? [0.5, 0.2, 0.1] : [0.1, 0.2, 0.3];
    };
    const visits = tasks.map(({ id, question }) => [
      id,
      meansOf(question).map((em, step) => ({ step, rollouts: 8, means: { reward: 1, em } })),
    ]);
    const checkpoint = join(folder, "run", "checkpoints", "step-4");
    await mkdir(checkpoint, { recursive: true });
    const state = { history: { tasks: Object.fromEntries(visits) as unknown, steps: [] } };
    await writeFile(join(checkpoint, "method-state.json"), JSON.stringify(state));
    const rows = join(folder, "run");
    const counts = await categoriesOf({ rows, of, reward: "em", questions: 60 });
    const kinds = new Set(Object.keys(counts).map((category) => category.split(" ")[0]));
    expect([...kinds]).toEqual(["bridge1"]);
    await expect(categoriesOf({ rows, of })).rejects.toThrow(errorWith("DATA_EMPTY"));
    await expect(categoriesOf({ rows })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /Name its dataset in "of"/),
    );
  });

  it("refuses the world that the rows are of, and questions of no tiny world", async () => {
    const rows = await rowsWith(() => true);
    await expect(categoriesOf({ rows, seed: 7 })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /^weak-tinyworld: seed is 7 with split "train"/),
    );
    const real = join(folder, "real.jsonl");
    await writeFile(real, JSON.stringify({ id: "1", question: "Who was Ada?", em: 0 }));
    await expect(categoriesOf({ rows: real })).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", '"Who was Ada?"'),
    );
  });
});
