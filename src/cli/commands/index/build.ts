import type { Command } from "commander";
import { ConfigError } from "../../../base/errors.ts";
import { formatBytes, formatCount, formatDuration } from "../../../base/format.ts";
import type { Bm25Options } from "../../../retrieval/bm25/bm25-options.ts";
import type { CliContext } from "../../command.ts";
import {
  addFieldFlags,
  type FieldFlags,
  openCorpus,
  type OpenCorpus,
  PASSAGE_ROLES,
} from "../../data-flags.ts";
import {
  decimal,
  jsonOption,
  outOption,
  overwriteOption,
  pluginOption,
  wholeNumber,
} from "../../options.ts";
import { startProgress } from "../../progress.ts";
import {
  addDenseOptions,
  buildDense,
  type DenseBuildFlags,
  denseSummaryText,
} from "../index-dense.ts";
import { planBm25, showPlan } from "./plan.ts";
import { addBm25Options, checkKindFlags, CORPUS, sizesOf } from "./index-flags.ts";
import { claimWriting } from "../../claim-output.ts";
import { refuseStray } from "../../stray-flags.ts";

interface BuildFlags extends Bm25Options, Omit<DenseBuildFlags, "out">, FieldFlags {
  out?: string;
  plan?: true;
  maxDisk?: number;
  threads?: number;
  json?: true;
}

/** Adds `build`. */
export function registerBuild(index: Command, context: CliContext): void {
  const command = index
    .command("build")
    .summary("build an index from a corpus, or tell what it will cost")
    .description(
      "Build an index from a corpus: BM25, or of text embeddings with --encoder. It appears whole or not at all. With --plan nothing is " +
        "built: it tells from a sample of the corpus what the index will cost.",
    );
  addIndexOptions(command)
    .option("--plan", "tell disk, memory and time, and build nothing")
    .addOption(overwriteOption("replace an existing index"))
    .option("--threads <n>", "worker threads (default: number of cores minus one)", wholeNumber(0))
    .option("--resume", "resume an interrupted build; needs --encoder")
    .action((path: string, flags: BuildFlags) => build(path, flags, context));
}

/** Adds `plan`, the earlier name of `build --plan`. */
export function registerPlan(index: Command, context: CliContext): void {
  const command = index
    .command("plan", { hidden: true })
    .description("The same as `index build CORPUS --plan`.");
  addIndexOptions(command).action((path: string, flags: BuildFlags) =>
    build(path, { ...flags, plan: true }, context),
  );
}

function addIndexOptions(command: Command): Command {
  command
    .argument("<corpus>", CORPUS)
    .addOption(
      outOption(
        "folder for the index; with --plan: fail unless it fits the free disk of this folder and the free memory",
      ),
    );
  addFieldFlags(command, PASSAGE_ROLES).addOption(pluginOption());
  return addDenseOptions(addBm25Options(command))
    .option("--max-disk <GB>", "with --plan: fail if building takes more disk", decimal(0))
    .addOption(jsonOption());
}

async function build(
  path: string,
  { textField, titleField, idField, plan, out, maxDisk, ...flags }: BuildFlags,
  context: CliContext,
): Promise<void> {
  checkKindFlags(flags);
  const fields = { textField, titleField, idField };
  const { encoder, json, threads, overwrite, resume, ...ofIndex } = flags;
  if (plan === true) {
    refuseStray({ threads, overwrite, resume }, ["threads", "overwrite", "resume"], "a build");
    const corpus = await openCorpus(path, fields, context);
    await showPlan(corpus, { ...ofIndex, encoder, out, maxDisk, json }, context);
    return;
  }
  refuseStray({ maxDisk }, ["maxDisk"], "--plan");
  if (out === undefined)
    throw new ConfigError("USAGE", "index build needs --out FOLDER, or --plan to build nothing.");
  claimWriting(out);
  const corpus = await openCorpus(path, fields, context);
  if (encoder === undefined) {
    await buildBm25Index(corpus, { ...flags, out, json }, context);
    return;
  }
  const summary = await buildDense(corpus, { ...flags, out, encoder }, context);
  context.out(json === true ? JSON.stringify(summary) : denseSummaryText(summary));
}

interface Bm25BuildFlags extends Bm25Options {
  out: string;
  overwrite?: true;
  threads?: number;
  maxMemory?: number;
  json: true | undefined;
}

async function buildBm25Index(
  corpus: OpenCorpus,
  { out, json, maxMemory, ...options }: Bm25BuildFlags,
  context: CliContext,
): Promise<void> {
  const { buildIndex } = await import("../../../retrieval/bm25/build-index.ts");
  if (maxMemory !== undefined) await refuseTooLarge(corpus, { out, maxMemory, options }, context);
  const begin = performance.now();
  const progress = startProgress(context, { label: "indexing", total: 0, unit: "passages" });
  const manifest = await buildIndex(corpus.passages(), out, {
    ...options,
    source: corpus.path,
    signal: context.signal,
    onProgress: (passages) => {
      const rate = (1000 * passages) / (performance.now() - begin);
      progress.update(passages, `${formatCount(rate)}/s`);
    },
    onAdvice: ({ analyzer, found }) => {
      context.note(
        `${corpus.path}: ${found}; the index was built with the analyzer ${options.analyzer ?? "english"}. ${analyzer === null ? "No analyzer separates its words: embed the passages instead (--encoder)." : `For better hits build it again with --analyzer ${analyzer} --overwrite.`}`,
      );
    },
  }).finally(() => {
    progress.stop();
  });
  const seconds = (performance.now() - begin) / 1000;
  const sizes = sizesOf(manifest);
  if (json === true) {
    const settings = { ...manifest.parameters, analyzer: manifest.analyzer.name };
    context.out(JSON.stringify({ out, ...sizes, seconds, ...settings }));
    return;
  }
  const { passages, terms, bytesOnDisk } = sizes;
  context.out(
    `${out}: ${formatCount(passages)} passages, ${formatCount(terms)} terms, ${formatBytes(bytesOnDisk)}, built in ${formatDuration(seconds)}`,
  );
}

/** With a limit the corpus is read once more, before anything is written. */
async function refuseTooLarge(
  corpus: OpenCorpus,
  {
    out,
    maxMemory,
    options,
  }: { out: string; maxMemory: number; options: Omit<Bm25BuildFlags, "out" | "json"> },
  context: CliContext,
): Promise<void> {
  const { threads: _, overwrite: __, ...bm25 } = options;
  await planBm25(corpus, { ...bm25, out, maxMemory }, context);
}
