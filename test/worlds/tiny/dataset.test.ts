import { describe, expect, it } from "vitest";
import type { Task } from "../../../src/trajectory/task.ts";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import { checkTinyWorld } from "../../../src/worlds/tiny/check.ts";
import { knownWorld, misremembered } from "../../../src/worlds/tiny/tiny-world.ts";
import { collect } from "../../helpers/collect.ts";
import { errorWith } from "../../helpers/error-with.ts";

const open = (options: Record<string, unknown>) =>
  openDataset({ name: "tinyworld", people: 300, questions: 200, ...options }, "test");
const tasksOf = async (options: Record<string, unknown>): Promise<Task[]> =>
  (await open(options)).tasks();

describe("dataset tinyworld", () => {
  it("takes the questions of given numbers", async () => {
    const all = await tasksOf({});
    expect(await tasksOf({ rows: [17, 3] })).toEqual([all[17], all[3]]);
  });

  it("asks for some relations last, and never uses others", async () => {
    const relations = ["person-birthplace", "town-mayor"];
    const mix = { comparison: 0, yesNo: 0 };
    const exclude = ["person-teacher", "firm-founder"];
    for (const { annotations } of await tasksOf({ relations, exclude, mix })) {
      const steps = annotations.decomposition?.map(({ question }) => question) ?? [];
      expect(steps.at(-1)).toMatch(/^(birthplace|mayor) of /);
      expect(steps.filter((step) => /^(teacher|founder) of /.test(step))).toEqual([]);
    }
    await expect(open({ relations: ["shoe-size"] })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "shoe-size"),
    );
  });

  it("repeats a share of the questions under ids of their own", async () => {
    const tasks = await tasksOf({ duplicates: 0.4 });
    const copies = tasks.filter(({ id }) => id.includes("-copy-"));
    expect(copies.length / 200).toBeCloseTo(0.4, 1);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(200);
    const originals = new Set(
      tasks.filter((task) => !copies.includes(task)).map(({ question }) => question),
    );
    expect(copies.filter(({ question }) => !originals.has(question))).toEqual([]);
  });

  it("gives a share of the questions a wrong reference of the same type", async () => {
    const [right, wrong] = [await tasksOf({}), await tasksOf({ mislabelled: 0.3 })];
    const changed = wrong.filter(({ references }, i) => references[0] !== right[i]?.references[0]);
    expect(changed.length / 200).toBeCloseTo(0.3, 1);
    for (const [i, task] of wrong.entries()) {
      expect(task).toEqual({ ...right[i], references: task.references });
      expect(/^\d/.test(task.references[0] ?? "")).toBe(/^\d/.test(right[i]?.references[0] ?? ""));
    }
  });

  it("asks a share of the questions about the known world, and holds its passages", async () => {
    const dataset = await open({ known: 0.5, passages: "fact", filler: 2 });
    const tasks = await dataset.tasks();
    const known = tasks.filter(({ id }) => id.startsWith("tinyworld-base-0-"));
    expect(known.length / 200).toBeCloseTo(0.5, 1);
    const { problems } = await checkTinyWorld(await collect(dataset.passages()), tasks);
    expect(problems).toEqual([]);
    // Another run's world has other facts; those known by heart are the same.
    const other = await tasksOf({ known: 1, seed: 99, split: "test" });
    expect(other).toEqual(await tasksOf({ known: 1 }));
  });

  it("refuses a world of the known world's split", async () => {
    await expect(open({ known: 0.5, split: "base" })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "where known is above 0"),
    );
  });

  it("says that nothing is missing where questions without an answer are wanted", async () => {
    await expect(tasksOf({ unanswerable: 0.5 })).rejects.toThrow(
      errorWith("TINY_WORLD_TOO_SMALL", 'Raise "missing" or set "unanswerable" to 0.'),
    );
  });

  it("streams the same questions at any limit, and changes its fingerprint with any option", async () => {
    const options = { known: 0.3, duplicates: 0.2, mislabelled: 0.2 };
    const dataset = await open(options);
    expect(await dataset.tasks(50)).toEqual((await dataset.tasks()).slice(0, 50));
    expect((await open({ ...options, mislabelled: 0.1 })).fingerprint).not.toBe(
      dataset.fingerprint,
    );
  });
});

describe("misremembered", () => {
  const mix = { bridge1: 1, bridge2: 1, bridge3: 0, comparison: 0, yesNo: 0 };
  const tasks = [...knownWorld().questions(200, { mix })];

  it("gives wrong answers about a share of the entities, the same ones each time", () => {
    const wrong = tasks.filter((task) => misremembered(task, 0.3) !== null);
    expect(wrong.length / 200).toBeGreaterThan(0.15);
    expect(wrong.length / 200).toBeLessThan(0.45);
    for (const task of wrong) {
      expect(misremembered(task, 0.3)).not.toBe(task.references[0]);
      expect(misremembered(task, 0.6)).toBe(misremembered(task, 0.3));
    }
  });

  it("is null for a right memory and for questions of other worlds", () => {
    expect(tasks.filter((task) => misremembered(task, 0) !== null)).toEqual([]);
    const [task] = tasks;
    const steps = [{ question: "mayor of Axona Amtek", answer: "", passage: null }];
    const foreign = { ...task, annotations: { type: "bridge", decomposition: steps } } as Task;
    expect(misremembered(foreign, 1)).toBeNull();
  });
});
