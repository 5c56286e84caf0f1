import { formatBytes, formatCount, formatDuration } from "../../../base/format.ts";
import { renderText } from "../../../base/table.ts";
import type { Bm25Options } from "../../../retrieval/bm25/bm25-options.ts";
import type { IndexPlan } from "../../../retrieval/bm25/plan-index.ts";
import { claimWriting } from "../../claim-output.ts";
import { type CliContext, defineCommand } from "../../command.ts";
import { openCorpus, type OpenCorpus, PASSAGE_OPTIONS } from "../../data-flags.ts";
import { withProgress } from "../../model-download.ts";
import {
  decimal,
  type Flags,
  jsonFlag,
  options,
  outFlag,
  overwriteFlag,
  pluginFlag,
  refuseStray,
  wholeNumber,
} from "../../options.ts";
import { usage } from "../../usage.ts";
import {
  buildDense,
  buildOfFaiss,
  bytesOf,
  checkFaissFlags,
  DENSE_OPTIONS,
  type DensePlanFlags,
  densePlanText,
  denseSummaryText,
  faissSummaryText,
  planDense,
} from "../index-dense.ts";
import { BM25_OPTIONS, checkKindFlags, CORPUS, sizesOf } from "./index-flags.ts";

const PLAN_OPTIONS = options({
  out: outFlag(
    "folder for the index; with --plan: fail unless it fits the free disk of this folder and the free memory",
  ),
  ...PASSAGE_OPTIONS,
  plugin: pluginFlag(),
  ...BM25_OPTIONS,
  ...DENSE_OPTIONS,
  maxDisk: ["<GB>", "with --plan: fail if building takes more disk", decimal(0)],
  json: jsonFlag(),
});

const OPTIONS = options({
  ...PLAN_OPTIONS,
  plan: ["", "tell disk, memory and time, and build nothing"],
  overwrite: overwriteFlag("replace an existing index"),
  threads: ["<n>", "worker threads (default: number of cores minus one)", wholeNumber(0)],
  resume: ["", "resume an interrupted build; needs --encoder"],
});

type BuildFlags = Flags<typeof OPTIONS>;

/** Adds `build`. */
export const indexBuild = defineCommand({
  name: "build",
  summary: "build an index from a corpus, or tell what it will cost",
  description:
    "Build an index from a corpus: BM25, or of text embeddings with --encoder; --faiss takes these from a published FAISS file. It appears whole or not at all. With --plan nothing is " +
    "built: it tells from a sample of the corpus what the index will cost.",
  args: [["<corpus>", CORPUS]],
  options: OPTIONS,
  run: (flags, context, path) => build(path, flags, context),
});

/** `plan`, the earlier name of `build --plan`. */
export const indexPlan = defineCommand({
  name: "plan",
  hidden: true,
  description: "The same as `index build CORPUS --plan`.",
  args: [["<corpus>", CORPUS]],
  options: PLAN_OPTIONS,
  run: (flags, context, path) => build(path, { ...flags, plan: true }, context),
});

async function build(
  path: string,
  { textField, titleField, idField, plan, out, maxDisk, ...flags }: BuildFlags,
  context: CliContext,
): Promise<void> {
  checkKindFlags(flags);
  checkFaissFlags({ ...flags, plan });
  const fields = { textField, titleField, idField };
  const { encoder, json, threads, overwrite, resume, ...ofIndex } = flags;
  if (plan === true) {
    refuseStray({ threads, overwrite, resume }, ["threads", "overwrite", "resume"], "a build");
    const corpus = await openCorpus(path, fields, context);
    await showPlan(corpus, { ...ofIndex, encoder, out, maxDisk, json }, context);
    return;
  }
  refuseStray({ maxDisk }, ["maxDisk"], "--plan");
  if (out === undefined) throw usage("index build needs --out FOLDER, or --plan to build nothing.");
  claimWriting(out);
  const corpus = await openCorpus(path, fields, context);
  if (encoder === undefined) {
    await buildBm25Index(corpus, { ...flags, out, json }, context);
    return;
  }
  const { faiss } = flags;
  if (faiss !== undefined) {
    const adopted = await buildOfFaiss(corpus, { ...flags, out, encoder, faiss }, context);
    context.out(json === true ? JSON.stringify(adopted) : faissSummaryText(adopted));
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
  const bar = { label: "indexing", total: 0, unit: "passages" };
  const manifest = await withProgress(context, bar, (update) =>
    buildIndex(corpus.passages(), out, {
      ...options,
      source: corpus.path,
      signal: context.signal,
      onProgress: (passages) => {
        const rate = (1000 * passages) / (performance.now() - begin);
        update(passages, `${formatCount(rate)}/s`);
      },
      onAdvice: ({ analyzer, found }) => {
        context.note(
          `${corpus.path}: ${found}; the index was built with the analyzer ${options.analyzer ?? "english"}. ${analyzer === null ? "No analyzer separates its words: embed the passages instead (--encoder)." : `For better hits build it again with --analyzer ${analyzer} --overwrite.`}`,
        );
      },
    }),
  );
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

/** Flags of a plan. */
interface PlanFlags extends Bm25Options, DensePlanFlags {
  json?: true;
}

/** Flags of a plan of a BM25 index. */
type Bm25PlanFlags = Bm25Options & Pick<PlanFlags, "out" | "maxMemory" | "maxDisk">;

/** Tells what an index of a corpus will cost, from a sample of it. */
async function showPlan(
  corpus: OpenCorpus,
  { json, encoder, ...flags }: PlanFlags,
  context: CliContext,
): Promise<void> {
  if (encoder === undefined) {
    const plan = await planBm25(corpus, flags, context);
    context.out(json === true ? JSON.stringify(plan) : planText(plan));
  } else {
    const plan = await planDense(corpus, { ...flags, encoder }, context);
    context.out(json === true ? JSON.stringify(plan) : densePlanText(plan));
  }
}

/** The cost of a BM25 index. @throws as `planIndex`; INDEX_TOO_LARGE when --out or a limit is given and it does not fit. */
async function planBm25(
  corpus: OpenCorpus,
  { out, maxMemory, maxDisk, ...bm25 }: Bm25PlanFlags,
  context: CliContext,
): Promise<IndexPlan> {
  const { planIndex, refuseUnlessFits } = await import("../../../retrieval/bm25/plan-index.ts");
  const bar = { label: "counting", total: 0, unit: "passages" };
  const given = { ...bm25, source: corpus.path, signal: context.signal };
  const plan = await withProgress(context, bar, (onProgress) =>
    planIndex(corpus.passages(), { ...given, onProgress }),
  );
  await refuseUnlessFits(plan, { out, maxMemory: bytesOf(maxMemory), maxDisk: bytesOf(maxDisk) });
  return plan;
}

function planText(plan: IndexPlan): string {
  const { passages, bytesOnDisk, textBytes, temporaryBytes, residentBytes, seconds, sampled } =
    plan;
  const rows = [
    ["on disk", formatBytes(bytesOnDisk), `of it text ${formatBytes(textBytes)}`],
    ["while building", formatBytes(temporaryBytes), "beside that, until it is done"],
    ["in memory", formatBytes(residentBytes), "once opened; the text stays on disk"],
    ["to build", formatDuration(seconds), "in one thread of this machine"],
  ];
  const basis = sampled < passages ? `, judged by the first ${formatCount(sampled)}` : "";
  const text = renderText({ columns: ["", { label: "", align: "right" }], rows });
  return `${formatCount(passages)} passages${basis}\n${text}`;
}
