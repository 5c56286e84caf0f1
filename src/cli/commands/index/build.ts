import type { Command } from "commander";
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
  jsonOption,
  pluginOption,
  outOption,
  overwriteOption,
  wholeNumber,
} from "../../options.ts";
import { startProgress } from "../../progress.ts";
import {
  addDenseOptions,
  buildDense,
  type DenseBuildFlags,
  denseSummaryText,
} from "../index-dense.ts";
import { planBm25 } from "./plan.ts";
import { addBm25Options, checkKindFlags, CORPUS, sizesOf } from "./index-flags.ts";
import { claimWriting } from "../../claim-output.ts";

interface BuildFlags extends Bm25Options, DenseBuildFlags, FieldFlags {
  threads?: number;
  json?: true;
}

/** Adds `build`. */
export function registerBuild(index: Command, context: CliContext): void {
  const command = index
    .command("build")
    .summary("build an index from a corpus")
    .description(
      "Build an index from a corpus: BM25, or of text embeddings with --encoder. It appears whole or not at all.",
    )
    .argument("<corpus>", CORPUS)
    .addOption(outOption("folder for the index").makeOptionMandatory());
  addFieldFlags(command, PASSAGE_ROLES).addOption(pluginOption());
  addBm25Options(command)
    .addOption(overwriteOption("replace an existing index"))
    .option("--threads <n>", "worker threads (default: number of cores minus one)", wholeNumber(0));
  addDenseOptions(command)
    .option("--resume", "resume an interrupted build; needs --encoder")
    .addOption(jsonOption())
    .action(
      async (path: string, { json, textField, titleField, idField, ...flags }: BuildFlags) => {
        checkKindFlags(flags);
        claimWriting(flags.out);
        const { encoder } = flags;
        const corpus = await openCorpus(path, { textField, titleField, idField }, context);
        if (encoder === undefined) await buildBm25Index(corpus, { ...flags, json }, context);
        else {
          const summary = await buildDense(corpus, { ...flags, encoder }, context);
          context.out(json === true ? JSON.stringify(summary) : denseSummaryText(summary));
        }
      },
    );
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
