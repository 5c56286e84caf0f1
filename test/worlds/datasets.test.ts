import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeJsonl } from "../../src/data/write-jsonl.ts";
import { datasets } from "../../src/worlds/datasets.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

describe("openDataset", () => {
  it("opens the tiny world by name, in memory", async () => {
    const dataset = await openDataset("tinyworld", "--dataset");
    expect(await dataset.tasks()).toHaveLength(500);
    expect([...(dataset.passages() as Iterable<unknown>)]).toHaveLength(1700);
  });

  it("opens it with options, and limits the questions", async () => {
    const spec = { name: "tinyworld", split: "test", people: 100, seed: 3, questions: 20 };
    const dataset = await openDataset(spec, "recipes/a.yaml: dataset");
    expect(await dataset.tasks()).toHaveLength(20);
    expect(await dataset.tasks(5)).toHaveLength(5);
    expect(await dataset.tasks(50)).toHaveLength(20);
    expect((await dataset.tasks(1))[0]?.id).toBe("tinyworld-test-3-0");
  });

  it("changes the fingerprint with every option and with nothing else", async () => {
    const print = async (options: object): Promise<string> =>
      (await openDataset({ name: "tinyworld", ...options }, "x")).fingerprint;
    const variants = [{}, { seed: 8 }, { split: "dev" }, { people: 999 }, { mix: { bridge4: 1 } }];
    const prints = await Promise.all(variants.map(print));
    expect(new Set(prints).size).toBe(variants.length);
    expect(await print({ people: 1000, seed: 7 })).toBe(prints[0]);
  });

  it("opens a question file by path, with its contexts as the corpus", async () => {
    const path = join(folder, "q.jsonl");
    const context = [["A", ["a."]]];
    await writeJsonl(path, [{ _id: "1", question: "?", answer: "x", context }]);
    const dataset = await openDataset(path, "--dataset");
    expect(await dataset.tasks()).toHaveLength(1);
    expect((await collect(dataset.passages())).map(({ text }) => text)).toEqual(["a."]);
    expect(dataset.fingerprint).toMatch(/^files-[0-9a-f]{16}$/);
  });

  it("reads a corpus of its own", async () => {
    const path = join(folder, "tasks.jsonl");
    const corpus = join(folder, "corpus.jsonl");
    await writeJsonl(path, [{ question: "?", answer: "x" }]);
    await writeJsonl(corpus, [{ id: "c", title: "", text: "y" }]);
    const dataset = await openDataset({ name: "files", tasks: path, corpus }, "dataset");
    expect((await collect(dataset.passages())).map(({ id }) => id)).toEqual(["c"]);
  });

  it("suggests the nearest name, and names keys and values that do not fit", async () => {
    await expect(openDataset("tinywrld", "--dataset")).rejects.toThrow(
      '--dataset is "tinywrld"; there is no such file and no such dataset. Did you mean "tinyworld"? Known: tinyworld,',
    );
    await expect(openDataset({ name: "tinyworlds" }, "dataset")).rejects.toThrow(
      'dataset.name is "tinyworlds"; no such dataset.',
    );
    await expect(openDataset({ name: "tinyworld", peple: 3 }, "dataset")).rejects.toThrow(
      'dataset.peple is not a key here. Did you mean "people"?',
    );
    await expect(openDataset({ name: "tinyworld", split: "val" }, "dataset")).rejects.toThrow(
      'dataset.split is "val": allowed: "train", "dev", "test", "base".',
    );
    await expect(openDataset({ name: "files", tasks: "nowhere.jsonl" }, "dataset")).rejects.toThrow(
      "nowhere.jsonl: cannot be read",
    );
  });

  it("streams questions: as many as asked for, again when asked again", async () => {
    const path = join(folder, "stream.jsonl");
    await writeJsonl(
      path,
      [1, 2, 3].map((id) => ({ id, question: "?", answer: "x" })),
    );
    for (const given of [path, "tinyworld"]) {
      const dataset = await openDataset(given, "--dataset");
      expect(await collect(dataset.stream(2))).toEqual(await dataset.tasks(2));
      expect(await collect(dataset.stream(2))).toHaveLength(2);
      expect(await collect(dataset.stream())).toEqual(await dataset.tasks());
    }
  });

  it("opens a folder of BEIR: queries that its split judges, their relevant passages, its corpus", async () => {
    const beir = join(folder, "set");
    const query = (id: string, answer: string) => ({ _id: id, text: "?", metadata: { answer } });
    await writeJsonl(join(beir, "queries.jsonl"), [query("q1", "x"), query("q2", "y")]);
    await writeJsonl(join(beir, "corpus.jsonl"), [{ _id: "d1", title: "T", text: "t" }]);
    await mkdir(join(beir, "qrels"));
    const head = "query-id\tcorpus-id\tscore\n";
    await writeFile(join(beir, "qrels", "test.tsv"), `${head}q2\td1\t1\nq2\td2\t0\n`);
    await writeFile(join(beir, "qrels", "dev.tsv"), `${head}q1\td1\t2\n`);
    const dataset = await openDataset(beir, "--dataset");
    expect(await dataset.tasks()).toEqual([
      {
        id: "q2",
        question: "?",
        references: ["y"],
        source: "set",
        annotations: { hops: 1, supportingPassages: ["d1"] },
      },
    ]);
    expect(await collect(dataset.passages())).toEqual([{ id: "d1", title: "T", text: "t" }]);
    expect((await (await openDataset(`${beir}:dev`, "x")).tasks()).map(({ id }) => id)).toEqual([
      "q1",
    ]);
    await expect(openDataset(`${beir}:train`, "x")).rejects.toThrow(
      errorWith("FILE_MISSING", 'has no split "train". Known: dev, test.'),
    );
  });

  it("lists parts that open with their defaults where they need no path", () => {
    expect(datasets.names).toEqual(expect.arrayContaining(["tinyworld", "files", "beir"]));
    expect(datasets.names).toContain("hotpotqa");
    expect(datasets.names).not.toContain("wiki18"); // a corpus, no questions
  });
});
