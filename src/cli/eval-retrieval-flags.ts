import type { Command } from "commander";
import { ConfigError } from "../base/errors.ts";
import {
  DEFAULT_RETRIEVAL_METRICS,
  type RetrievalMetric,
  retrievalMetric,
} from "../evaluate/retrieval-metrics.ts";
import { checkRetrieverFlags, type RetrieverFlags } from "./retriever-option.ts";

/** Flags of `agentrl eval retrieval`. */
export interface EvalRetrievalFlags extends RetrieverFlags {
  run?: string;
  dataset?: string;
  split?: string;
  questions?: string;
  queries?: string;
  qrels?: string;
  metrics?: string;
  depth?: number;
  runOut?: string;
  overwrite?: true;
  compare?: string;
  seed?: number;
  require?: string[];
  perQuery?: true;
  json?: true;
}

/** Adds the flags that name queries and judgements. */
export function addTestSetOptions(command: Command): void {
  command
    .option("--dataset <folder>", "test set: a BEIR folder (queries.jsonl, qrels/, corpus.jsonl)")
    .option("--split <name>", "of --dataset (default: test)")
    .option("--questions <file>", "or questions that tell their supporting passages, in any layout")
    .option("--queries <file>", "or BEIR queries.jsonl, lines of id, tab, text, or TREC topics")
    .option("--qrels <file>", "judgements in BEIR's or TREC's columns, for --queries or --run");
}

/**
 * Checks the flags of the retriever or run to score.
 * @throws {ConfigError} USAGE
 */
export function checkMeasured(flags: EvalRetrievalFlags): void {
  if (flags.run === undefined) {
    checkRetrieverFlags(flags);
    return;
  }
  const searching = ["index", "retriever", "corpus", "depth"] as const;
  const other = searching.find((name) => flags[name] !== undefined);
  if (other === undefined) return;
  throw usage(
    `--run and --${other} are both given: a run is scored as it is. Leave one of them out.`,
  );
}

/**
 * Checks the flags of queries and judgements: exactly one complete test set.
 * @throws {ConfigError} USAGE
 */
export function checkTestSet(flags: EvalRetrievalFlags): void {
  const { run, dataset, split, questions, queries, qrels } = flags;
  const given = Object.entries({ dataset, questions, qrels: qrels ?? queries });
  const sets = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]));
  if (sets.length > 1) {
    throw usage(`${sets.join(" and ")} are both given: measure on one test set at a time.`);
  }
  if (split !== undefined && dataset === undefined) {
    throw usage("--split is given without --dataset: only a BEIR folder has splits.");
  }
  if (dataset !== undefined || questions !== undefined) return;
  if (qrels === undefined && queries === undefined) {
    throw usage("--dataset, --questions or --queries with --qrels is missing: name the test set.");
  }
  if (qrels === undefined) throw usage("--qrels is missing: give the judgements of --queries.");
  if (queries === undefined && run === undefined) {
    throw usage("--queries is missing: name the queries of --qrels; only a --run needs none.");
  }
}

/**
 * The metrics of --metrics, each once, or the default ones.
 * @throws {ConfigError} USAGE for an unknown metric, or one with a cutoff above --depth.
 */
export function metricsOf({ metrics, questions, depth }: EvalRetrievalFlags): RetrievalMetric[] {
  const support = questions === undefined ? [] : ["support@5", "support@10"];
  const names = metrics?.split(",").map((name) => name.trim());
  const chosen = [...new Set(names ?? [...DEFAULT_RETRIEVAL_METRICS, ...support])].map((name) =>
    retrievalMetric(name, "--metrics"),
  );
  const deeper = chosen.find(
    ({ cutoff }) => cutoff !== null && depth !== undefined && cutoff > depth,
  );
  if (deeper !== undefined && depth !== undefined) {
    throw usage(
      `--depth is ${depth}, but ${deeper.name} looks deeper: ask for more hits, or name the metrics with --metrics.`,
    );
  }
  return chosen;
}

function usage(message: string): ConfigError {
  return new ConfigError("USAGE", message);
}
