import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Task } from "../../../src/trajectory/task.ts";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import { checkNumberWorld } from "../../../src/worlds/numbers/check.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const of = { name: "numberworld", questions: 300 };
const asked = await (await openDataset(of, "test")).tasks();

const has = (concept: string) => (task: Task) => task.annotations.concepts!.includes(concept);

/** Rows in which some problems are wrong and all others right. */
async function rowsWith(isWrong: (task: Task) => boolean, name = "rows.jsonl"): Promise<string> {
  const path = join(folder, name);
  const lines = asked.map((task) => JSON.stringify({ ...task, em: isWrong(task) ? 0 : 1 }));
  await writeFile(path, lines.join("\n"));
  return path;
}

async function made(options: Record<string, unknown>): Promise<Task[]> {
  const given = { name: "weak-numberworld", seed: 8, of, ...options };
  return (await openDataset(given, "test")).tasks();
}

const share = (tasks: readonly Task[], is: (task: Task) => boolean): number =>
  tasks.filter(is).length / tasks.length;

describe("dataset weak-numberworld", () => {
  it("gives each concept a budget in proportion to its failure rate", async () => {
    // Remainder: 1 of 1 wrong. Maximum: 1 of 3. Of 40 problems, 40 × 1 / (1 + ⅓) = 30 and 10. Addition never fails.
    const problems = [
      [["expression", "remainder"], 0],
      [["expression", "maximum"], 0],
      [["comparison", "maximum", "addition"], 1],
      [["comparison", "maximum"], 1],
    ] as const;
    const lines = problems.map(
      ([concepts, em], i) =>
      JSON.stringify({ id: `p${i}`, question: `${i}?`, references: ["1"], annotations: { concepts }, em }), // prettier-ignore
    );
    const rows = join(folder, "problems.jsonl");
    await writeFile(rows, lines.join("\n"));
    const tasks = await made({ rows, of: { name: "files", tasks: rows }, questions: 40 });
    const [remainder, maximum] = [tasks.filter(has("remainder")), tasks.filter(has("maximum"))];
    const both = remainder.filter(has("maximum"));
    // A problem made for one concept may have the other as well.
    expect(tasks.every((task) => has("remainder")(task) || has("maximum")(task))).toBe(true);
    expect(remainder.length - both.length).toBeLessThanOrEqual(30);
    expect(maximum.length - both.length).toBeLessThanOrEqual(10);
    expect(remainder.length + maximum.length - both.length).toBe(40);
  });

  it("gives shares by the number of failures, and by kind, where that is asked for", async () => {
    const kinds = ["years", "shop"];
    const isWrong = ({ annotations: { type = "" } }: Task) => kinds.includes(type);
    const rows = await rowsWith(isWrong);
    const failures = kinds.map((kind) => asked.filter(has(kind)).length);
    const counts = async (budget: string): Promise<number[]> => {
      const tasks = await made({ rows, by: "kind", budget, questions: 60 });
      expect(share(tasks, isWrong)).toBe(1);
      return kinds.map((kind) => tasks.filter(has(kind)).length);
    };
    // Both kinds always fail: rates 1 and 1.
    expect(await counts("failure-rate")).toEqual([30, 30]);
    const exact = (60 * failures[0]!) / (failures[0]! + failures[1]!);
    expect(Math.abs((await counts("failures"))[0]! - exact)).toBeLessThan(1);
  });

  it("makes sound, distinct problems of another seed, with the pool's levels", async () => {
    const rows = await rowsWith(has("division"));
    const pool = { easy: 1, medium: 0, hard: 0 };
    const tasks = await made({ rows, pool, questions: 80 });
    expect(checkNumberWorld(tasks).problems).toEqual([]);
    expect(new Set(tasks.map(({ question }) => question)).size).toBe(80);
    const known = new Set(asked.map(({ question }) => question));
    expect(tasks.filter(({ question }) => known.has(question)).length).toBeLessThan(4);
    expect(tasks.every(({ annotations }) => annotations.decomposition?.length === 2)).toBe(true);
    expect(tasks[0]!.id).toMatch(/^weak-numberworld-train-8-\d+$/);
    expect(await made({ rows, pool, questions: 80 })).toEqual(tasks);
  });

  it("refuses the world that was asked, and rows that the dataset does not have", async () => {
    const rows = await rowsWith(() => true);
    await expect(made({ rows, seed: 7 })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /^weak-numberworld: seed is 7 with split "train"/),
    );
    await expect(made({ rows, of: { ...of, questions: 20 } })).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", /numberworld-train-7-20 of rows is not in the dataset/),
    );
    const tiny = { name: "tinyworld", people: 60, questions: 3 };
    const [first] = await (await openDataset(tiny, "test")).tasks();
    const foreign = join(folder, "tiny.jsonl");
    await writeFile(foreign, JSON.stringify({ ...first, em: 0 }));
    await expect(made({ rows: foreign, of: tiny })).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", /has no concepts in the dataset/),
    );
  });
});
