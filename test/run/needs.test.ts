import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placeOf } from "../../src/data/cards/card-dataset.ts";
import { readCard } from "../../src/data/cards/card.ts";
import { writeOrigin } from "../../src/data/cards/dataset-place.ts";
import { writeJsonl } from "../../src/data/write-jsonl.ts";
import { needsOf, requireData } from "../../src/run/needs.ts";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";
import { type Settings, settingsSchema } from "../../src/run/settings/settings-schema.ts";
import {
  type ResolvedSettings,
  loadSettings,
  resolveSettings,
} from "../../src/run/settings/settings.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const before = process.env["AGENTRL_DATA"];
beforeAll(() => {
  process.env["AGENTRL_DATA"] = temporaryFolder();
});
afterAll(() => {
  if (before === undefined) delete process.env["AGENTRL_DATA"];
  else process.env["AGENTRL_DATA"] = before;
});

async function settingsOf(base: string): Promise<ResolvedSettings<Settings>> {
  const recipe = parseRecipe(`summary: A recipe.\nbase:${base}\ntiers: { mini: {} }\n`, "a.yaml");
  return loadSettings(settingsSchema, resolveSettings(recipe, { tier: "mini" }));
}

/** Puts a split where a download would. */
async function download(name: string, split: string, source: string): Promise<void> {
  const { path } = placeOf(readCard(name), { split, source });
  const { bytes, sha256 } = await writeJsonl(path, [
    { id: "1", question: "?", golden_answers: ["x"] },
  ]);
  await writeOrigin(path, { url: "", sha256, bytes, records: 1, layout: "", license: "" });
}

const SETS = `
  dataset: { name: joined, of: [{ name: nq, source: flashrag, split: train }, { name: popqa, source: flashrag, split: test }] }
  evaluation:
    dataset: { name: nq, source: flashrag, split: test }
    sets: { more: { dataset: { name: popqa, source: flashrag, split: test } } }
`;

const STAGES = `
  dataset: { name: nq, source: flashrag, split: train }
  evaluation: { dataset: { name: popqa, source: flashrag, split: test } }
  stages:
    - do: synth
      set:
        dataset.split: dev
        synth.teacher: { name: model, from: Org/teacher }
    - { do: sft }
`;

describe("what a recipe needs", () => {
  it("is nothing from outside for the world of the package", async () => {
    expect(await needsOf(await settingsOf("\n  seed: 1"))).toEqual([
      {
        ...{ kind: "model", name: "base", keys: ["policy.from"] },
        ...{ facts: "in the package", here: true, command: null },
      },
    ]);
  });

  it("names each split once, with its keys and the command that fetches it", async () => {
    await download("nq", "train", "flashrag");
    const needs = await needsOf(await settingsOf(SETS));
    const data = needs.filter(({ kind }) => kind === "dataset");
    expect(data.map(({ name, keys, here, command }) => ({ name, keys, here, command }))).toEqual([
      {
        name: "nq:train",
        keys: ["dataset"],
        here: true,
        command: "agentrl data download nq --split train --source flashrag",
      },
      {
        name: "popqa:test",
        keys: ["dataset", "evaluation.sets.more.dataset"],
        here: false,
        command: "agentrl data download popqa --split test --source flashrag",
      },
      {
        name: "nq:test",
        keys: ["evaluation.dataset"],
        here: false,
        command: "agentrl data download nq --split test --source flashrag",
      },
    ]);
    expect(data.map(({ facts }) => facts)[0]).toBe("79,168 questions, CC BY-SA 3.0");
  });

  it("has the data and models of each stage, and no model for the stage that another one starts from", async () => {
    const needs = await needsOf(await settingsOf(STAGES));
    expect(needs.map(({ kind, name, keys }) => [kind, name, keys])).toEqual([
      ["dataset", "popqa:test", ["evaluation.dataset"]],
      ["dataset", "nq:dev", ["stage 1 (synth): dataset"]],
      ["dataset", "nq:train", ["dataset"]],
      ["model", "base", ["policy.from"]],
      ["model", "Org/teacher", ["stage 1 (synth): synth.teacher.from"]],
    ]);
    await expect(requireData(await settingsOf(STAGES))).rejects.toThrow(
      errorWith(
        "DATASET_ABSENT",
        /nq --split dev --source flashrag .*stage 1 \(synth\): dataset$/m,
      ),
    );
  });

  it("is a server that answers, whatever it says, and one that does not", async () => {
    const server = createServer((_, reply) => reply.writeHead(404).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const base = (address: string): string =>
      `\n  retriever: { name: search-r1-server, url: "${address}" }`;
    const answers = async (): Promise<(boolean | null)[]> =>
      (await needsOf(await settingsOf(base(url))))
        .filter(({ kind }) => kind === "server")
        .map(({ here }) => here);
    expect(await answers()).toEqual([true]);
    await new Promise((resolve) => server.close(resolve));
    expect(await answers()).toEqual([false]);
  });

  it("is the server of a tool", async () => {
    const tool = `{ name: python, server: "http://127.0.0.1:9" }`;
    const settings = await settingsOf(`\n  environment: { name: tool-qa, tools: [${tool}] }`);
    expect((await needsOf(settings)).filter(({ kind }) => kind === "server")).toMatchObject([
      { name: "http://127.0.0.1:9", keys: ["environment.tools.0.server"] },
    ]);
  });
});

describe("a run whose questions are not here", () => {
  it("is refused with a command for each, those of its last evaluation included", async () => {
    await download("nq", "train", "flashrag");
    await download("nq", "test", "flashrag");
    const settings = await settingsOf(SETS);
    await expect(requireData(settings)).rejects.toThrow(
      errorWith(
        "DATASET_ABSENT",
        /\n {2}agentrl data download popqa --split test --source flashrag {2}# popqa:test, .*: dataset, evaluation\.sets\.more\.dataset$/,
      ),
    );
    await download("popqa", "test", "flashrag");
    await expect(requireData(settings)).resolves.toBeUndefined();
  });
});
