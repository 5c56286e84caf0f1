import { fixed, formatCount, formatMilliseconds, orAbsent } from "../../../base/format.ts";
import { random } from "../../../base/random.ts";
import { renderText } from "../../../base/table.ts";
import type { RetrieverSpeed } from "../../../retrieval/bench-index.ts";
import type { Bm25Retriever } from "../../../retrieval/bm25/bm25.ts";
import type { DenseRetriever } from "../../../retrieval/dense/open-dense-index.ts";
import type { Retriever } from "../../../retrieval/retriever.ts";
import type { PassageStore } from "../../../retrieval/store/passage-file.ts";
import { type CliContext, defineCommand } from "../../command.ts";
import { type Flags, decimal, jsonFlag, options, wholeNumber } from "../../options.ts";
import { anyRetriever, openRetrieverFlags } from "../../retriever-option.ts";
import { withProgress } from "../../model-download.ts";
import { usage } from "../../usage.ts";
import { INDEX } from "./index-flags.ts";

const OPTIONS = options({
  ...anyRetriever("an index"),
  queries: [
    "<file>",
    "BEIR queries.jsonl, lines of id, tab, text, or TREC topics (default: words of 500 passages)",
  ],
  seconds: ["<s>", "seconds to measure, after warming up (default: 10)", decimal(0.1)],
  k: ["<n>", "number of hits (default: 10)", wholeNumber(1)],
  recallQueries: [
    "<n>",
    "queries to compare with exact search, which reads everything (default: 20; 0 above 200,000 passages)",
    wholeNumber(0),
  ],
  json: jsonFlag(),
});

type BenchFlags = Flags<typeof OPTIONS> & { index?: string };

/** Adds `bench`. */
export const indexBench = defineCommand({
  name: "bench",
  summary: "measure an index: queries per second, latency, recall",
  description:
    "Measure an index, or any retriever, on this machine as it is now: queries per second, time of a query, and which share of the exact k best it finds.",
  args: [["[index]", `${INDEX}; left out beside --retriever`]],
  options: OPTIONS,
  more: (command) =>
    command.usage(
      "[options] <index>\n       agentrl index bench [options] --retriever <name> --queries <file>",
    ),
  async run(given, context, index) {
    const flags = { ...given, index };
    const retriever = await openRetrieverFlags(flags);
    try {
      const result = await bench(retriever, flags, context);
      context.out(flags.json === true ? JSON.stringify(result) : benchText(result));
      if (result.warning !== null) context.note(`warning: ${result.warning}.`);
    } finally {
      await retriever.close();
    }
  },
});

interface BenchResult extends RetrieverSpeed {
  retriever: string;
  fingerprint: string;
  /** Distinct queries, and hits per query. */
  queries: number;
  k: number;
  recall: {
    /** null: not measured, or nothing to find. */
    value: number | null;
    queries: number;
    against: string;
  };
  warning: string | null;
}

async function bench(
  retriever: Retriever,
  flags: BenchFlags,
  context: CliContext,
): Promise<BenchResult> {
  const { benchRetriever, rolloutWarning } = await import("../../../retrieval/bench-index.ts");
  const { k = 10, seconds = 10 } = flags;
  const queries = await queriesOf(retriever, flags);
  const bar = { label: "searching", total: 0, unit: "s" };
  const { signal } = context;
  const speed = await withProgress(context, bar, (update) => {
    const onProgress = (done: number): void => {
      update(Math.round(done));
    };
    return benchRetriever(retriever, { queries, k, seconds, signal, onProgress });
  });
  return {
    retriever: retriever.name,
    fingerprint: retriever.fingerprint,
    queries: queries.length,
    k,
    ...speed,
    recall: await recallFor(retriever, queries, { ...flags, k }),
    warning: rolloutWarning(speed),
  };
}

const SAMPLED = 500;
const WORDS = 6;

/** The queries of a file, or the first words of passages drawn by a fixed seed. */
async function queriesOf(retriever: Retriever, { queries }: BenchFlags): Promise<string[]> {
  if (queries !== undefined) {
    const { readQueries } = await import("../../../evaluate/retrieval-sets.ts");
    return (await readQueries(queries)).map(({ text }) => text);
  }
  if (!hasPassages(retriever))
    throw usage(
      `--queries is missing: a ${retriever.name} retriever has no passages to draw queries from.`,
    );
  const { passages } = retriever;
  const draw = random("index bench");
  return Array.from({ length: SAMPLED }, () => {
    const { title, text } = passages.read(draw.int(passages.count));
    return `${title} ${text}`.trim().split(/\s+/).slice(0, WORDS).join(" ");
  });
}

function hasPassages(retriever: Retriever): retriever is Retriever & { passages: PassageStore } {
  return "passages" in retriever;
}

/** Above this number of passages an exact search takes minutes, so it is optional. */
const RECALL_PASSAGES = 200_000;
const RECALL_QUERIES = 20;

async function recallFor(
  retriever: Retriever,
  queries: readonly string[],
  { recallQueries, index, k }: BenchFlags & { k: number },
): Promise<BenchResult["recall"]> {
  const isSmall = !hasPassages(retriever) || retriever.passages.count <= RECALL_PASSAGES;
  const sample = queries.slice(0, recallQueries ?? (isSmall ? RECALL_QUERIES : 0));
  const found = (value: number | null, against: string): BenchResult["recall"] => ({
    value,
    queries: sample.length,
    against,
  });
  if (sample.length === 0) return found(null, "not measured: --recall-queries 20 takes the time");
  if (isBm25(retriever)) {
    const { exactRecall } = await import("../../../retrieval/bm25/check-index.ts");
    return found(await exactRecall(retriever, sample, k), "the formula on every passage");
  }
  if (isDense(retriever) && retriever.vectors.kind === "flat") return found(1, "itself: exact");
  if (isDense(retriever) && index !== undefined) {
    const [{ openDenseIndex }, { recallOf }] = await Promise.all([
      import("../../../retrieval/dense/open-dense-index.ts"),
      import("../../../retrieval/bench-index.ts"),
    ]);
    const exact = await openDenseIndex(index, { exact: true });
    try {
      const [hits, truth] = [await retriever.search(sample, k), await exact.search(sample, k)];
      return found(recallOf(hits, truth, k), "every vector");
    } finally {
      await exact.close();
    }
  }
  return found(null, `no exact search is known for ${retriever.name}`);
}

function isBm25(retriever: Retriever): retriever is Bm25Retriever {
  return "segments" in retriever && "analyzer" in retriever;
}

function isDense(retriever: Retriever): retriever is DenseRetriever {
  return "vectors" in retriever && "encoder" in retriever;
}

function benchText(result: BenchResult): string {
  const { queriesPerSecond, batch, p50Ms, p99Ms, k, recall, queries } = result;
  const { value, against } = recall;
  const basis = value === null ? against : `against ${against}, ${recall.queries} queries`;
  return renderText({
    columns: ["", { label: "", align: "right" }],
    rows: [
      ["queries/s", formatCount(queriesPerSecond), `${batch} at once, ${queries} different ones`],
      ["p50", formatMilliseconds(p50Ms), "one at a time"],
      ["p99", formatMilliseconds(p99Ms)],
      [`recall@${k}`, orAbsent(value, fixed(3)), basis],
    ],
  });
}
