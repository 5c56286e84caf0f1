import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Dataset } from "../../src/data/dataset.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function fileOf(name: string, rows: readonly unknown[]): Promise<string> {
  const path = join(folder, `${name}.jsonl`);
  await writeFile(path, rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
  return path;
}

/** A line of FlashRAG's files, whose ids count from 0 in each. */
function flashrag(number: number, question: string): unknown {
  return { id: `train_${number}`, question, golden_answers: [`answer to ${question}`] };
}

async function openJoined(files: readonly string[]): Promise<Dataset> {
  const of = files.map((tasks) => ({ name: "files", tasks }));
  return openDataset({ name: "joined", of }, "test");
}

describe("dataset joined", () => {
  it("has all questions in order, with ids that differ", async () => {
    const one = await fileOf("nq", [flashrag(0, "a"), flashrag(1, "b")]);
    const two = await fileOf("hotpotqa", [flashrag(0, "c")]);
    const dataset = await openJoined([one, two]);
    expect((await dataset.tasks()).map(({ id, question }) => [id, question])).toEqual([
      ["files:train_0", "a"],
      ["files:train_1", "b"],
      ["files:2:train_0", "c"],
    ]);
    expect(await dataset.tasks(2)).toEqual((await dataset.tasks()).slice(0, 2));
  });

  it("renames passages wherever a question names them", async () => {
    const [kept, other] = ["p1", "p2"].map((id) => ({ id, title: id, text: `Text of ${id}.` }));
    const row = {
      id: "q",
      question: "Who?",
      references: ["Ada"],
      annotations: {
        context: [kept, other],
        supportingPassages: ["p1"],
        decomposition: [{ question: "Who?", answer: "Ada", passage: "p1" }],
      },
    };
    const dataset = await openJoined([await fileOf("first", [row]), await fileOf("second", [row])]);
    const [, second] = await dataset.tasks();
    const { context = [], supportingPassages, decomposition } = second!.annotations;
    expect(context.map(({ id }) => id)).toEqual(["files:2:p1", "files:2:p2"]);
    expect(supportingPassages).toEqual(["files:2:p1"]);
    expect(decomposition?.map(({ passage }) => passage)).toEqual(["files:2:p1"]);
    const ids: string[] = [];
    for await (const { id } of dataset.passages()) ids.push(id);
    expect(ids).toEqual(["files:p1", "files:p2", "files:2:p1", "files:2:p2"]);
  });

  it("gives each question the share of its dataset in a batch, where weights are given", async () => {
    const [one, two] = [
      await fileOf("w1", [flashrag(0, "a")]),
      await fileOf("w2", [flashrag(0, "b")]),
    ];
    const of = [one, two].map((tasks) => ({ name: "files", tasks }));
    const weighted = await openDataset({ name: "joined", of, weights: [1, 3] }, "test");
    expect((await weighted.tasks()).map(({ annotations }) => annotations)).toEqual([
      { mixture: { part: "files", weight: 1 } },
      { mixture: { part: "files:2", weight: 3 } },
    ]);
    const plain = await openJoined([one, two]);
    expect((await plain.tasks()).map(({ annotations }) => annotations)).toEqual([{}, {}]);
    expect(weighted.fingerprint).not.toBe(plain.fingerprint);
    await expect(openDataset({ name: "joined", of, weights: [1] }, "test")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /as many weights as datasets/),
    );
  });

  it("changes its fingerprint with any of its parts", async () => {
    const one = await fileOf("one", [flashrag(0, "a")]);
    const before = await openJoined([one, await fileOf("two", [flashrag(0, "b")])]);
    const after = await openJoined([one, await fileOf("two", [flashrag(0, "c")])]);
    expect(after.fingerprint).not.toBe(before.fingerprint);
  });
});
