import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
import {
  openRetrieverFlags,
  RETRIEVER_OPTIONS,
  type RetrieverFlags,
} from "../../src/cli/retriever-option.ts";
import { addOptions } from "../../src/cli/options.ts";
import { buildIndex } from "../../src/retrieval/bm25/build-index.ts";
import { openIndex } from "../../src/retrieval/bm25/open-index.ts";
import { errorWith } from "../helpers/error-with.ts";
import { serveForTest } from "../helpers/serve.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const index = join(folder, "idx");
const corpus = join(folder, "corpus.jsonl");
const passages = [
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "Lima", text: "The capital of Peru." },
];

beforeAll(async () => {
  await buildIndex(passages, index);
  writeFileSync(corpus, passages.map((passage) => JSON.stringify(passage)).join("\n"));
});

/** Ids that the retriever of a command line finds for "Peru". */
async function found(...args: string[]): Promise<string[] | undefined> {
  const command = addOptions(new Command(), RETRIEVER_OPTIONS);
  const flags = command.parse(args, { from: "user" }).opts<RetrieverFlags>();
  const retriever = await openRetrieverFlags(flags);
  try {
    const [hits] = await retriever.search(["Peru"], 2);
    return hits?.map(({ id }) => id);
  } finally {
    await retriever.close();
  }
}

describe("--index and --retriever", () => {
  it("open an index folder, or the retriever that YAML names", async () => {
    expect(await found("--index", index)).toEqual(["b"]);
    expect(await found("--retriever", `{ name: bm25, index: ${index} }`)).toEqual(["b"]);
    expect(await found("--retriever", "none")).toEqual([]);
  });

  it("ask the server at an address", async () => {
    const { url } = await serveForTest(await openIndex(index));
    expect(await found("--retriever", url)).toEqual(["b"]);
    expect(await found("--retriever", `${url.replace("http://", "")}/retrieve`)).toEqual(["b"]);
  });

  it("give a retriever without an index the passages of --corpus", async () => {
    expect(await found("--retriever", "{ name: bm25, k1: 1.2 }", "--corpus", corpus)).toEqual([
      "b",
    ]);
    await expect(found("--retriever", "bm25")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /^--retriever \(without --corpus\): bm25/),
    );
  });

  it.each([
    [[], "--index or --retriever is missing"],
    [["--index", "x", "--retriever", "none"], "--index and --retriever are both given"],
    [["--index", "x", "--corpus", "c"], "--corpus is given beside --index"],
  ])("refuse %j", async (args, message) => {
    await expect(found(...args)).rejects.toThrow(errorWith("USAGE", message));
  });

  it("say which part of --retriever is wrong", async () => {
    await expect(found("--retriever", "{ name: bm25")).rejects.toThrow(
      errorWith("RECIPE_NOT_YAML", /^--retriever: is not YAML/),
    );
    await expect(found("--retriever", "bm52")).rejects.toThrow(
      errorWith("PART_UNKNOWN", '--retriever is "bm52"; no such retriever. Did you mean "bm25"?'),
    );
    await expect(found("--retriever", "{ name: bm25, indx: a }")).rejects.toThrow(
      errorWith("RECIPE_UNKNOWN_KEY", "--retriever.indx is not a key here."),
    );
  });
});
