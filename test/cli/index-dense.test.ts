import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
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
import { openEncoder } from "../../src/retrieval/dense/encoder.ts";
import { openRetrieverFlags } from "../../src/cli/retriever-option.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { faissBytes } from "../helpers/faiss-bytes.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
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

it("--device is tested before anything is encoded", async () => {
  const absent = process.platform === "darwin" ? "dml" : "coreml";
  const flags = flagsOf("--encoder", join(folder, "e5-tiny"), "--device", absent);
  await expect(
    buildDense(await opened(), { ...flags, out: join(folder, "none") }, context),
  ).rejects.toThrow(errorWith("DEVICE_MISSING", new RegExp(`device "${absent}"`)));
  const { dimensions } = await planDense(
    await opened(),
    flagsOf("--encoder", join(folder, "e5-tiny"), "--device", "cpu"),
    context,
  );
  expect(dimensions).toBe(16);
});

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

describe("agentrl index build --faiss", () => {
  const index = (...args: string[]) =>
    runCommand(commandNamed("index"), ["index", ...args], `${folder}/`);
  const encoder = join(folder, "e5-tiny");
  const faiss = join(folder, "flat.index");
  const build = (...args: string[]) =>
    index("build", corpus, "--faiss", faiss, "--out", join(folder, "of-faiss"), ...args);

  beforeAll(async () => {
    const opened = await openEncoder(encoder);
    const texts = ["Oslo capital of Norway", "Bergen rain"];
    await writeFile(faiss, faissBytes(await opened.encodePassages(texts), opened.dimensions));
    await opened.close();
  });

  it("makes an index of the file and the corpus, which is searched, checked and opened as any other", async () => {
    const { stdout, stderr, status } = await build("--encoder", encoder);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout.replaceAll(/[\d.]+ (s|k?B)\b/g, "# $1")).toMatchInlineSnapshot(`
      "of-faiss: 2 passages, 16 dimensions, inner-product, # B beside flat.index, built in # s
      2 of 2 sampled passages, encoded again, are nearest to their own vector; mean cosine 1.0000
      "
    `);
    const found = await index("search", join(folder, "of-faiss"), "rain", "-k", "1", "--json");
    expect(JSON.parse(found.stdout)).toMatchObject({ hits: [{ id: "b", title: "Bergen" }] });
    expect((await index("check", join(folder, "of-faiss"))).status).toBe(0);
    const json = await build("--encoder", encoder, "--overwrite", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      faiss: "flat.index",
      metric: "inner-product",
      passages: 2,
      agreement: { sampled: 2, own: 2 },
    });
  });

  it.each([
    [[], /--faiss belongs to a dense index: name its model with --encoder/],
    [["--encoder", encoder, "--plan"], /--plan and --faiss are both given/],
    [
      ["--encoder", encoder, "--vectors", "f16", "--resume"],
      /--vectors, --resume would have no effect/,
    ],
    [["--encoder", encoder, "--k1", "1"], /--k1 belongs to BM25/],
  ])("refuses what it would ignore: %j", async (args, message) => {
    const { stderr, status } = await build(...args);
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
  });

  it("says what a file of another kind is", async () => {
    const other = join(folder, "hnsw.index");
    await writeFile(other, Buffer.from("IHNf".padEnd(600, "\0"), "latin1"));
    const out = join(folder, "of-hnsw");
    const run = await index("build", corpus, "--faiss", other, "--out", out, "--encoder", encoder);
    expect(run.status).toBe(3);
    expect(run.stderr).toMatch(/FAISS's type "IHNf": an HNSW graph .*\[INDEX_FAISS\]/s);
  });
});
