import { formatBytes, formatCount, formatDuration } from "../../../base/format.ts";
import { renderText } from "../../../base/table.ts";
import type { Bm25Options } from "../../../retrieval/bm25/bm25-options.ts";
import type { IndexPlan } from "../../../retrieval/bm25/plan-index.ts";
import type { CliContext } from "../../command.ts";
import type { OpenCorpus } from "../../data-flags.ts";
import { startProgress } from "../../progress.ts";
import { type DensePlanFlags, densePlanText, planDense } from "../index-dense.ts";

/** Flags of a plan. */
export interface PlanFlags extends Bm25Options, DensePlanFlags {
  json?: true;
}

/** Flags of a plan of a BM25 index. */
type Bm25PlanFlags = Bm25Options & Pick<PlanFlags, "out" | "maxMemory" | "maxDisk">;

/** Tells what an index of a corpus will cost, from a sample of it. */
export async function showPlan(
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

/**
 * The cost of a BM25 index.
 * @throws as `planIndex`; INDEX_TOO_LARGE when --out or a limit is given and it does not fit.
 */
export async function planBm25(
  corpus: OpenCorpus,
  { out, maxMemory, maxDisk, ...bm25 }: Bm25PlanFlags,
  context: CliContext,
): Promise<IndexPlan> {
  const [{ planIndex }, { refuseUnlessFits }] = await Promise.all([
    import("../../../retrieval/bm25/plan-index.ts"),
    import("../../../retrieval/bm25/plan-index.ts"),
  ]);
  const progress = startProgress(context, { label: "counting", total: 0, unit: "passages" });
  const plan = await planIndex(corpus.passages(), {
    ...bm25,
    source: corpus.path,
    signal: context.signal,
    onProgress: (passages) => {
      progress.update(passages);
    },
  }).finally(() => {
    progress.stop();
  });
  await refuseUnlessFits(plan, { out, maxMemory: bytesOf(maxMemory), maxDisk: bytesOf(maxDisk) });
  return plan;
}

function bytesOf(gigabytes: number | undefined): number | undefined {
  return gigabytes === undefined ? undefined : gigabytes * 1e9;
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
