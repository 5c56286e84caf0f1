import type { Command } from "commander";
import { DataError } from "../../base/errors.ts";
import { readQrels, readQueries } from "../../evaluate/retrieval-files.ts";
import {
  evaluateRetrieval,
  RETRIEVAL_METRICS,
  type RetrievalScores,
} from "../../evaluate/retrieval-metrics.ts";
import { openIndex } from "../../retrieval/bm25/open-index.ts";
import type { CliContext } from "../command.ts";
import { jsonOption } from "../options.ts";
import { startProgress } from "../progress.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { table } from "../table.ts";

interface EvalRetrievalOptions {
  index: string;
  queries: string;
  qrels: string;
  require?: string[];
  perQuery?: true;
  json?: true;
}

/** Adds `retrieval` to `agentrl eval`: how well an index finds what was judged relevant. */
export function addEvalRetrieval(parent: Command, context: CliContext): void {
  parent
    .command("retrieval")
    .summary("measure an index on queries with relevance judgements")
    .description(
      "Measure an index on queries with relevance judgements: nDCG, recall, MRR as trec_eval defines them.",
    )
    .requiredOption("--index <folder>", "made by `agentrl index build`")
    .requiredOption("--queries <file>", "BEIR queries.jsonl, or lines of id, tab, text")
    .requiredOption("--qrels <file>", "judgements in BEIR's or TREC's columns")
    .option(
      "--require <condition>",
      'fail with status 5 unless it holds, e.g. "ndcg@10>=0.6"; repeatable',
      (text: string, before: string[] | undefined) => [...(before ?? []), text],
    )
    .option("--per-query", "with --json: every query's metrics too")
    .addOption(jsonOption())
    .action((options: EvalRetrievalOptions) => evalRetrieval(options, context));
}

async function evalRetrieval(options: EvalRetrievalOptions, context: CliContext): Promise<void> {
  const requirements = (options.require ?? []).map((text) =>
    parseRequirement(text, RETRIEVAL_METRICS),
  );
  const { scores, skipped } = await measure(options, context);
  const { n, metrics, perQuery, fingerprint } = scores;
  if (options.json === true) {
    const detail = options.perQuery === true ? { perQuery } : {};
    context.out(JSON.stringify({ n, metrics, fingerprint, ...detail }));
  } else {
    const rows = Object.entries(metrics).map(([name, value]) => [name, value.toFixed(4)]);
    context.out(`${n} queries\n${table(rows, { align: ["left", "right"] })}`);
  }
  if (skipped > 0) context.note(`${skipped} queries without a relevant passage were left out.`);
  requireScores(requirements, metrics);
}

async function measure(
  { index, queries: queriesPath, qrels: qrelsPath }: EvalRetrievalOptions,
  context: CliContext,
): Promise<{ scores: RetrievalScores; skipped: number }> {
  const queries = await readQueries(queriesPath);
  const qrels = await readQrels(qrelsPath);
  const retriever = await openIndex(index);
  const progress = startProgress(context, {
    label: "searching",
    total: queries.length,
    unit: "queries",
  });
  try {
    const scores = await evaluateRetrieval(retriever, queries, qrels, {
      signal: context.signal,
      onProgress: (done) => {
        progress.update(done);
      },
    });
    if (scores.n > 0) return { scores, skipped: queries.length - scores.n };
  } finally {
    progress.stop();
    await retriever.close();
  }
  throw new DataError(
    "QRELS_UNMATCHED",
    `${qrelsPath}: judges no passage relevant to any of the ${queries.length} queries of ${queriesPath}. Check that both are of one dataset and split.`,
  );
}
