import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadTasks } from "../../src/data/tasks.ts";
import { shippedBases } from "../../src/run/settings/base-names.ts";
import { teachers } from "../../src/synth/teachers/index.ts";
import { datasets, environments } from "../../src/worlds/datasets.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { worlds } from "../../src/worlds/index.ts";
import "../helpers/all-parts.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const written = worlds.parts.flatMap(({ name, folder }) =>
  folder === undefined ? [] : [{ name, world: folder }],
);

describe.each(written)("world $name", ({ name, world }) => {
  const settings = { seed: 5, questions: 20 };
  const out = (label: string): string => join(folder, `${name}-${label}`);

  it("writes the same bytes for the same seed, and others for another", async () => {
    const one = await world.generate(out("one"), settings);
    const two = await world.generate(out("two"), settings);
    const other = await world.generate(out("other"), { ...settings, seed: 6 });
    expect(two).toEqual(one);
    for (const file of world.files(settings))
      expect(readFileSync(join(out("two"), file))).toEqual(readFileSync(join(out("one"), file)));
    expect(other.files["train.jsonl"]).not.toEqual(one.files["train.jsonl"]);
  });

  it("passes its own check, and names a file that was changed", async () => {
    await world.generate(out("checked"), settings);
    const report = await world.check(out("checked"));
    expect(report).toMatchObject({ problems: [], changedFiles: [], counts: { questions: 60 } });
    appendFileSync(join(out("checked"), "dev.jsonl"), "\n");
    expect(await world.check(out("checked"))).toMatchObject({ changedFiles: ["dev.jsonl"] });
  });

  it("writes what its dataset of the same name opens", async () => {
    await world.generate(out("opened"), settings);
    const dataset = await openDataset({ name, ...settings, split: "dev" }, "test");
    const asked = await dataset.tasks();
    expect(
      (await loadTasks(join(out("opened"), "dev.jsonl"))).map(({ question }) => question),
    ).toEqual(asked.map(({ question }) => question));
  });

  it("shares no question between splits", async () => {
    const ofSplit = async (split: string): Promise<string[]> => {
      const dataset = await openDataset({ name, ...settings, split }, "test");
      return (await dataset.tasks()).map(({ question }) => question);
    };
    const [train, test] = [await ofSplit("train"), new Set(await ofSplit("test"))];
    expect(train.filter((question) => test.has(question))).toEqual([]);
  });
});

describe("the worlds", () => {
  it("bring their datasets, environments and teachers to the registries", () => {
    for (const world of worlds.parts) {
      for (const each of world.datasets) expect(datasets.get(each.name, "test")).toBe(each);
      for (const each of world.environments) expect(environments.get(each.name, "test")).toBe(each);
      for (const each of world.teachers) expect(teachers.get(each.name, "test")).toBe(each);
    }
  });

  it("have every shipped base, each in one world", () => {
    expect(worlds.parts.flatMap(({ bases }) => bases).sort()).toEqual(shippedBases());
  });
});
