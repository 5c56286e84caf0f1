import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const of = { name: "tinyworld", split: "train", people: 100, questions: 6 };

/** Questions 0 to 3 were right at the first, third and second try, and never; the others were not tried. */
const VERDICTS = [
  [1, 1, 0],
  [0, 0, 1],
  [0, 1, 0],
  [0, 0, 0],
];

async function idsOf(options: Record<string, unknown>): Promise<string[]> {
  const inner = await (await openDataset(of, "test")).tasks();
  const rows = join(folder, "draws.jsonl");
  const lines = VERDICTS.map((rewards, i) => ({
    task: { id: inner[i]?.id, question: inner[i]?.question },
    candidates: rewards.map((reward) => ({ trajectory: { reward } })),
  }));
  await writeFile(rows, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const dataset = await openDataset({ name: "by-tries", of, rows, ...options }, "test");
  return (await dataset.tasks()).map(({ id }) => String(inner.findIndex((task) => task.id === id)));
}

describe("dataset by-tries", () => {
  it.each([
    [{ to: 1 }, ["0"]],
    [{ from: 2, to: 3 }, ["1", "2"]],
    [{ from: 3 }, ["1", "3"]],
    [{}, ["0", "1", "2", "3"]],
    [{ questions: 2 }, ["0", "1"]],
  ])("keeps, with %o, the questions %o in their order", async (options, ids) => {
    expect(await idsOf(options)).toEqual(ids);
  });

  it("keeps the passages of the whole dataset, and has a fingerprint of its own", async () => {
    await idsOf({});
    const rows = join(folder, "draws.jsonl");
    const [inner, all, few] = await Promise.all([
      openDataset(of, "test"),
      openDataset({ name: "by-tries", of, rows }, "test"),
      openDataset({ name: "by-tries", of, rows, to: 1 }, "test"),
    ]);
    expect(Array.from(all.passages() as Iterable<unknown>)).toEqual(
      Array.from(inner.passages() as Iterable<unknown>),
    );
    expect(new Set([inner, all, few].map(({ fingerprint }) => fingerprint)).size).toBe(3);
  });

  it("refuses a band without questions", async () => {
    await expect(idsOf({ from: 2, to: 1 })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "from to be at most to"),
    );
    await idsOf({});
    const rows = join(folder, "draws.jsonl");
    await writeFile(
      rows,
      `${JSON.stringify({ task: { id: "x", question: "x" }, candidates: [{ trajectory: { reward: 1 } }] })}\n`,
    );
    await expect(openDataset({ name: "by-tries", of, rows, from: 2 }, "test")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "needed 2 to any number of tries"),
    );
  });
});
