import type { Command } from "commander";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readPassages } from "../../data/passages.ts";
import type { Bm25Options } from "../../retrieval/bm25/bm25-options.ts";
import { buildIndex, type BuildIndexOptions } from "../../retrieval/bm25/build-index.ts";
import { checkIndex } from "../../retrieval/bm25/check-index.ts";
import type { IndexManifest } from "../../retrieval/bm25/index-manifest.ts";
import { planIndex } from "../../retrieval/bm25/plan-index.ts";
import type { Hit, Retriever } from "../../retrieval/retriever.ts";
import { analyzers } from "../../text/analyzer.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { decimal, jsonOption, outOption, wholeNumber } from "../options.ts";
import { startProgress } from "../progress.ts";
import {
  addRetrieverOptions,
  openRetrieverFlags,
  type RetrieverFlags,
} from "../retriever-option.ts";
import { table } from "../table.ts";

/** `agentrl index build|search|check|plan`: BM25 indexes. */
export const indexCommand: CliCommand = {
  name: "index",
  register(program, context) {
    const index = program
      .command("index")
      .summary("build, search and check search indexes")
      .description("Search indexes: exact BM25 over a corpus, in a folder.");
    registerBuild(index, context);
    registerSearch(index, context);
    registerCheck(index, context);
    registerPlan(index, context);
  },
};

const CORPUS =
  "JSON lines, .gz or not: {id, title, text}, BEIR's or FlashRAG's; or questions with contexts";

/** The options that say how an index is made. */
function addBm25Options(command: Command): Command {
  return command
    .option("--k1 <x>", "saturation of repeated terms (default: 0.9)", decimal(0))
    .option("--b <x>", "length normalisation, 0 to 1 (default: 0.4)", decimal(0, 1))
    .option("--analyzer <name>", `one of ${analyzers.names.join(", ")} (default: english)`);
}

interface BuildOptions extends Bm25Options {
  out: string;
  overwrite?: true;
  json?: true;
}

function registerBuild(index: Command, context: CliContext): void {
  const command = index
    .command("build")
    .description("Build a BM25 index from a corpus.")
    .argument("<corpus>", CORPUS)
    .addOption(outOption("folder for the index").makeOptionMandatory());
  addBm25Options(command)
    .option("--overwrite", "replace the index that is there")
    .addOption(jsonOption())
    .action(async (corpus: string, { out, json, ...options }: BuildOptions) => {
      const begin = performance.now();
      const manifest = await build(corpus, out, options, context);
      const seconds = (performance.now() - begin) / 1000;
      const { analyzer, parameters } = manifest;
      const sizes = sizesOf(manifest);
      if (json === true) {
        const settings = { ...parameters, analyzer: analyzer.name };
        context.out(JSON.stringify({ out, ...sizes, seconds, ...settings }));
        return;
      }
      const { passages, terms, bytesOnDisk } = sizes;
      context.out(
        `${out}: ${passages} passages, ${terms} terms, ${megabytes(bytesOnDisk)}, built in ${seconds.toFixed(1)} s`,
      );
    });
}

async function build(
  corpus: string,
  out: string,
  options: BuildIndexOptions,
  context: CliContext,
): Promise<IndexManifest> {
  const progress = startProgress(context, { label: "indexing", total: 0, unit: "passages" });
  try {
    return await buildIndex(readPassages(corpus), out, {
      ...options,
      source: corpus,
      signal: context.signal,
      onProgress: (passages) => {
        progress.update(passages);
      },
    });
  } finally {
    progress.stop();
  }
}

function sizesOf({
  corpus,
  segments,
}: IndexManifest): Record<"passages" | "terms" | "postings" | "bytesOnDisk", number> {
  const sizes = { passages: corpus.passages, terms: 0, postings: 0, bytesOnDisk: 0 };
  for (const { terms, postings, files } of segments) {
    sizes.terms += terms;
    sizes.postings += postings;
    for (const { bytes } of Object.values(files)) sizes.bytesOnDisk += bytes;
  }
  return sizes;
}

interface SearchFlags extends RetrieverFlags {
  k?: number;
  json?: true;
}

function registerSearch(index: Command, context: CliContext): void {
  const command = index
    .command("search")
    .description("Search an index, or any retriever by --retriever.")
    .usage(
      "[options] <index> <query>\n       agentrl index search [options] --retriever <yaml> <query>",
    )
    .argument("[index]", "folder made by `index build`; left out beside --retriever")
    .argument("[query]", "one query, quoted")
    .option("-k, --k <n>", "hits (default: 10)", wholeNumber(1));
  addRetrieverOptions(command, { index: false })
    .addOption(jsonOption())
    .action(async (first: string | undefined, second: string | undefined, flags: SearchFlags) => {
      const { query, retriever } = await openSearch(first, second, flags);
      try {
        await search(retriever, query, flags, context);
      } finally {
        await retriever.close();
      }
    });
}

/** The first argument is the index, or the query where --retriever stands for the index. */
async function openSearch(
  first: string | undefined,
  second: string | undefined,
  flags: SearchFlags,
): Promise<{ query: string; retriever: Retriever }> {
  const [index, query] = flags.retriever === undefined ? [first, second] : [undefined, first];
  if (query === undefined) {
    throw new ConfigError(
      "USAGE",
      'index search needs an index and a query: agentrl index search IDX "query"; or a query and --retriever.',
    );
  }
  if (flags.retriever !== undefined && second !== undefined) {
    throw new ConfigError(
      "USAGE",
      `An index ("${query}") and --retriever are both given: leave one of them out.`,
    );
  }
  const place = index === undefined ? {} : { index };
  return { query, retriever: await openRetrieverFlags({ ...flags, ...place }) };
}

async function search(
  retriever: Retriever,
  query: string,
  { k = 10, json }: SearchFlags,
  context: CliContext,
): Promise<void> {
  const [hits = []] = await retriever.search([query], k, { signal: context.signal });
  if (json === true) {
    const { fingerprint } = retriever;
    context.out(JSON.stringify({ query, hits, fingerprint }));
  } else if (hits.length === 0) {
    context.note("No passage was found.");
  } else {
    context.out(table(hits.map(hitRow), { align: ["right", "right"] }));
  }
}

function hitRow({ id, title, text, score }: Hit, rank: number): string[] {
  const start = text.replaceAll(/\s+/g, " ").slice(0, 60);
  return [
    `${rank + 1}`,
    score.toFixed(3),
    id,
    title,
    start.length < text.length ? `${start}…` : start,
  ];
}

function registerCheck(index: Command, context: CliContext): void {
  index
    .command("check")
    .description(
      "Check an index: its files, that titles find their passages, that scores are exact.",
    )
    .argument("<index>", "folder made by `index build`")
    .addOption(jsonOption())
    .action(async (folder: string, { json }: { json?: true }) => {
      const findings = await checkIndex(folder, { signal: context.signal });
      const failed = findings.filter(({ ok }) => !ok);
      if (json === true) context.out(JSON.stringify({ ok: failed.length === 0, findings }));
      else {
        context.out(
          table(findings.map(({ check, ok, detail }) => [ok ? "ok" : "FAILED", check, detail])),
        );
      }
      if (failed.length === 0) return;
      const list = failed.map(({ check, detail }) => `${check}: ${detail}`).join("; ");
      throw new DataError("INDEX_CHECK_FAILED", `${folder}: ${list}. Build the index again.`);
    });
}

function registerPlan(index: Command, context: CliContext): void {
  const command = index
    .command("plan")
    .description(
      "Tell what an index of a corpus will cost, from a sample of it, before building it.",
    )
    .argument("<corpus>", CORPUS);
  addBm25Options(command)
    .addOption(jsonOption())
    .action(async (corpus: string, { json, ...options }: Bm25Options & { json?: true }) => {
      const plan = await planIndex(readPassages(corpus), {
        ...options,
        source: corpus,
        signal: context.signal,
      });
      if (json === true) {
        context.out(JSON.stringify(plan));
        return;
      }
      const { passages, bytesOnDisk, textBytes, residentBytes, seconds, sampled } = plan;
      const rows = [
        ["on disk", megabytes(bytesOnDisk), `of it text ${megabytes(textBytes)}`],
        ["in memory", megabytes(residentBytes), "once opened; the text stays on disk"],
        ["to build", `${seconds.toFixed(1)} s`, "on this machine"],
      ];
      const basis = sampled < passages ? `, from the first ${sampled}` : "";
      context.out(`${passages} passages${basis}\n${table(rows, { align: ["left", "right"] })}`);
    });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
