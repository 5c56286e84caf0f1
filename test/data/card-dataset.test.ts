import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placeOf } from "../../src/data/cards/card-dataset.ts";
import { readCard } from "../../src/data/cards/card.ts";
import { writeOrigin } from "../../src/data/cards/dataset-place.ts";
import { writeJsonl } from "../../src/data/write-jsonl.ts";
import { datasetNamed, openDataset } from "../../src/worlds/open-dataset.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const before = process.env["AGENTRL_DATA"];
const folder = temporaryFolder();
beforeAll(() => {
  process.env["AGENTRL_DATA"] = folder;
});
afterAll(() => {
  if (before === undefined) delete process.env["AGENTRL_DATA"];
  else process.env["AGENTRL_DATA"] = before;
});

/** Puts a split of a dataset where a download would. */
async function downloaded(name: string, split: string, records: object[]): Promise<string> {
  const { path } = placeOf(readCard(name), { split });
  const { bytes, sha256 } = await writeJsonl(path, records);
  const origin = { url: "", sha256, bytes, records: records.length, layout: "", license: "" };
  await writeOrigin(path, origin);
  return path;
}

describe("a dataset with a card", () => {
  it("is opened by name, or by name and split, once it is here", async () => {
    await expect(openDataset("nq", "--dataset")).rejects.toThrow(
      errorWith(
        "DATASET_ABSENT",
        /^dataset nq:test is not on this machine .*: agentrl data download nq --split test$/,
      ),
    );
    const path = await downloaded(
      "nq",
      "test",
      [1, 2, 3].map((i) => ({ question: `${i}?`, answer: ["x"] })),
    );
    expect(path).toBe(join(folder, "nq", "original", "test.jsonl"));
    const dataset = await openDataset("nq", "--dataset");
    expect([dataset.name, dataset.trainable]).toEqual(["nq:test", true]);
    expect(dataset.fingerprint).toMatch(/^nq-test-[0-9a-f]{16}$/);
    expect(await dataset.tasks(1)).toEqual([
      { id: "nq-test-1", question: "1?", references: ["x"], source: "nq", annotations: {} },
    ]);
    expect(await collect(dataset.stream())).toHaveLength(3);
    expect((await openDataset("nq:test", "--dataset")).fingerprint).toBe(dataset.fingerprint);
  });

  it("takes split, source and limit as options of a recipe", async () => {
    const limited = await openDataset({ name: "nq", split: "test", limit: 2 }, "dataset");
    expect(await limited.tasks()).toHaveLength(2);
    expect(await limited.tasks(1)).toHaveLength(1);
    expect(limited.fingerprint).toMatch(/-2$/);
    await expect(openDataset({ name: "nq", split: "tset" }, "dataset")).rejects.toThrow(
      errorWith(
        "PART_UNKNOWN",
        'nq.split is "tset"; nq has no such split in its source original. Did you mean "test"?',
      ),
    );
    await expect(openDataset({ name: "nq", source: "flashrag" }, "dataset")).rejects.toThrow(
      errorWith("DATASET_ABSENT", "agentrl data download nq --split test --source flashrag"),
    );
    await expect(openDataset({ name: "nq", splits: "test" }, "dataset")).rejects.toThrow(
      errorWith("RECIPE_UNKNOWN_KEY", 'Did you mean "split"?'),
    );
  });

  it("gives every fifth question to the held-out part, before the limit counts", async () => {
    const records = Array.from({ length: 12 }, (_, i) => ({ question: `${i}?`, answer: ["x"] }));
    await downloaded("nq", "test", records);
    const questionsOf = async (part: string, limit: number) => {
      const opened = await openDataset({ name: "nq", part, limit }, "dataset");
      expect(opened.fingerprint).toMatch(new RegExp(`-${part}-${limit}$`));
      return (await opened.tasks()).map(({ question }) => question);
    };
    expect(await questionsOf("held-out", 9)).toEqual(["4?", "9?"]);
    expect(await questionsOf("train", 5)).toEqual(["0?", "1?", "2?", "3?", "5?"]);
  });

  it("counts as absent when its file is not the size that was downloaded", async () => {
    const path = await downloaded("bamboogle", "test", [
      { id: 1, question: "?", golden_answers: ["x"] },
    ]);
    expect((await openDataset("bamboogle", "x")).trainable).toBe(false);
    await writeFile(path, "");
    await expect(openDataset("bamboogle", "x")).rejects.toThrow(errorWith("DATASET_ABSENT"));
  });

  it("has its questions' contexts as passages, or says which corpus to index", async () => {
    const context = [["A", ["a."]]];
    await downloaded("hotpotqa", "dev", [{ _id: "1", question: "?", answer: "x", context }]);
    const hotpot = await openDataset("hotpotqa:dev", "x");
    expect((await collect(hotpot.passages())).map(({ text }) => text)).toEqual(["a."]);
    const nq = await openDataset("nq", "x");
    await expect(collect(nq.passages())).rejects.toThrow(
      errorWith(
        "DATASET_ABSENT",
        "dataset nq: its questions have no passages of their own. Search an index",
      ),
    );
    const corpus = join(folder, "corpus.jsonl");
    await writeJsonl(corpus, [{ id: "c", contents: '"T"\nt' }]);
    const own = await openDataset({ name: "nq", corpus }, "x");
    expect(await collect(own.passages())).toEqual([{ id: "c", title: "T", text: "t" }]);
  });
});

describe("datasetNamed", () => {
  it("tells names, splits and files apart", async () => {
    expect(datasetNamed("tinyworld:dev", "x")).toEqual({ name: "tinyworld", split: "dev" });
    expect(datasetNamed("musique", "x")).toEqual({ name: "musique" });
    const path = join(folder, "a:b.jsonl");
    await writeFile(path, "");
    expect(datasetNamed(path, "x")).toEqual({ name: "files", tasks: path });
    expect(() => datasetNamed("hotpot:dev", "--dataset")).toThrow(
      errorWith(
        "PART_UNKNOWN",
        '--dataset is "hotpot:dev"; there is no such file and no such dataset. Did you mean "hotpotqa"?',
      ),
    );
  });
});
