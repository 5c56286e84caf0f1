import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { beforeAll, expect, it } from "vitest";
import type { CliContext } from "../../src/cli/command.ts";
import {
  buildDense,
  checkDense,
  DENSE_OPTIONS,
  type DenseFlags,
  densePlanText,
  denseSummaryText,
  planDense,
} from "../../src/cli/commands/index-dense.ts";
import { openCorpus, type OpenCorpus } from "../../src/cli/data-flags.ts";
import { addOptions } from "../../src/cli/options.ts";
import { openRetrieverFlags } from "../../src/cli/retriever-option.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyEncoder } from "../helpers/tiny-encoder.ts";

const folder = temporaryFolder();
const corpus = join(folder, "corpus.jsonl");
const out = join(folder, "index");
const context: CliContext = {
  call: "agentrl",
  out: () => undefined,
  document: () => undefined,
  note: () => undefined,
  terminal: false,
  signal: new AbortController().signal,
  untilStopped: () => Promise.resolve(),
};

beforeAll(async () => {
  await writeTinyEncoder(join(folder, "e5-tiny"), ["oslo", "norway", "rain", "capital"]);
  const passages = [
    { id: "a", title: "Oslo", text: "capital of Norway" },
    { id: "b", title: "Bergen", text: "rain" },
  ];
  await writeFile(corpus, passages.map((each) => `${JSON.stringify(each)}\n`).join(""));
});

const opened = (): Promise<OpenCorpus> => openCorpus(corpus, {}, context);

function flagsOf(...args: string[]): DenseFlags & { encoder: string } {
  const command = addOptions(new Command(), DENSE_OPTIONS).parse(args, { from: "user" });
  return command.opts();
}

it("the flags of a dense index build one that any command opens and that checks out", async () => {
  const flags = flagsOf(
    ...["--encoder", join(folder, "e5-tiny"), "--vectors", "f16", "--graph", "hnsw", "--m", "8"],
    ...["--query-prefix", "", "--inner-product", "--pooling", "mean", "--max-tokens", "16"],
  );
  const summary = await buildDense(await opened(), { ...flags, out }, context);
  expect(summary).toMatchObject({ passages: 2, dimensions: 16, vectors: "f16", graph: "hnsw" });
  expect(denseSummaryText(summary)).toMatch(
    /: 2 passages, 16 dimensions, f16, hnsw, \d+ B, built in/,
  );
  const retriever = await openRetrieverFlags({ index: out });
  const [hits = []] = await retriever.search(["rain"], 1);
  await retriever.close();
  expect(hits[0]).toMatchObject({ id: "b", text: "rain" });
  const findings = await checkDense(out, context);
  expect(findings.every(({ ok }) => ok)).toBe(true);
});

it("nothing but the encoder is set unless it is given", () => {
  expect(flagsOf("--encoder", "x")).toEqual({ encoder: "x" });
});

it("a plan tells sizes and time, and is refused when it exceeds --max-memory", async () => {
  const flags = flagsOf("--encoder", join(folder, "e5-tiny"));
  const plan = await planDense(await opened(), flags, context);
  const text = densePlanText(plan)
    .replaceAll(/[\d.]+ (s|k?B)\b/g, "# $1")
    .replaceAll(/ +/g, " ");
  expect(text).toMatchInlineSnapshot(`
    "2 passages, 16 dimensions, f32, flat; from the first 2
    on disk # B text # B, vectors # B, graph # B
    while building # B beside that, until it is done
    in memory # B once opened; with little memory, read from disk
    to build # s encoding # s, graph # s, on this machine"
  `);
  await expect(planDense(await opened(), { ...flags, maxMemory: 1e-9 }, context)).rejects.toThrow(
    errorWith("INDEX_TOO_LARGE", "the index of 2 passages needs"),
  );
  await expect(planDense(await opened(), { ...flags, dtype: "fp99" }, context)).rejects.toThrow(
    errorWith("RECIPE_BAD_VALUE", "--encoder.dtype"),
  );
});
