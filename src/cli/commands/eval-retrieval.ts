import { definedValues } from "../../base/defined-values.ts";
import { DataError } from "../../base/errors.ts";
import {
  DEFAULT_RETRIEVAL_METRICS,
  type RetrievalMetric,
  retrievalMetric,
  retrievalMetricNames,
} from "../../evaluate/retrieval-metrics.ts";
import {
  type MetricComparison,
  type RetrievalScores,
  compareRetrieval,
  depthOf,
  evaluateRetrieval,
  judgedQueries,
  scoreRun,
} from "../../evaluate/retrieval-scores.ts";
import {
  type RetrievalRun,
  type RetrievalSet,
  beirSet,
  filesSet,
  questionsSet,
  readRun,
  writeRun,
} from "../../evaluate/retrieval-sets.ts";
import { readsGold } from "../../retrieval/retriever.ts";
import { retrievalBlocks, retrievalComparisonBlocks } from "../../view/documents/comparison.ts";
import { READS_GOLD } from "../../view/documents/scores.ts";
import { claimOutput } from "../claim-output.ts";
import { type CliContext, defineCommand } from "../command.ts";
import {
  type Flags,
  jsonFlag,
  options,
  overwriteFlag,
  requireFlag,
  seedFlag,
  wholeNumber,
} from "../options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { RETRIEVER_OPTIONS, checkRetrieverFlags, openRetrieverFlags } from "../retriever-option.ts";
import { withProgress } from "../model-download.ts";
import { usage } from "../usage.ts";

/** The scores of a run. */
interface Measured {
  scores: RetrievalScores;
  run: RetrievalRun;
  /** Name of the run in files and tables. */
  name: string;
  /** Whether the retriever used the judgements: a control, not a result. Unknown for a run file. */
  readsGold: boolean;
}

const OPTIONS = options({
  ...RETRIEVER_OPTIONS,
  run: ["<file>", "score this TREC run instead of searching"],
  dataset: ["<folder>", "test set: a BEIR folder (queries.jsonl, qrels/, corpus.jsonl)"],
  split: ["<name>", "of --dataset (default: test)"],
  questions: ["<file>", "or questions that tell their supporting passages, in any layout"],
  queries: ["<file>", "or BEIR queries.jsonl, lines of id, tab, text, or TREC topics"],
  qrels: ["<file>", "judgements in BEIR's or TREC's columns, for --queries or --run"],
  metrics: [
    "<list>",
    `comma-separated (default: ${DEFAULT_RETRIEVAL_METRICS.join(",")}; with --questions support@5,support@10 as well)`,
  ],
  depth: [
    "<n>",
    "hits per query (default: as many as the metrics need; 1000 for map, mrr, ndcg, rprec)",
    wholeNumber(1),
  ],
  runOut: [
    "<file>",
    "write the judged queries' hits as a TREC run, in an order that trec_eval keeps",
  ],
  overwrite: overwriteFlag("replace an existing file of --run-out"),
  compare: ["<file>", "a TREC run to test against: difference, interval and p for each metric"],
  seed: seedFlag("seed of the bootstrap and the permutation test (default: 0)"),
  require: requireFlag("ndcg@10>=0.6"),
  perQuery: ["", "also print the metrics of every query; needs --json"],
  json: jsonFlag(),
});

type EvalRetrievalFlags = Flags<typeof OPTIONS>;

/** Adds `retrieval` to `agentrl eval`: scores a retriever by relevance judgements. */
export const evalRetrievalCommand = defineCommand({
  name: "retrieval",
  summary: "measure a retriever, or a TREC run, on queries with relevance judgements",
  description:
    "Measure a retriever, or a TREC run, on queries with relevance judgements. Metrics are trec_eval's, over every " +
    `query that has a relevant passage: ${retrievalMetricNames.join(", ")}. A retriever's hits count in its own ` +
    "order, a run's in trec_eval's: by score, ties by id, the greater first.",
  options: OPTIONS,
  async run(flags, context) {
    checkMeasured(flags);
    checkTestSet(flags);
    const { seed = 0, runOut } = flags;
    if (runOut !== undefined) claimOutput(runOut, flags.overwrite);
    const metrics = metricsOf(flags);
    const names = metrics.map(({ name }) => name);
    const requirements = (flags.require ?? []).map((text) => parseRequirement(text, names));
    const set = await setOf(flags);
    const judged = judgedQueries(set.queries, set.qrels);
    if (judged.length === 0) throw unmatched(set);
    const judgedSet = { ...set, queries: judged };
    const other = await otherScores(flags, judgedSet, metrics);
    const measured = await measure(flags, judgedSet, metrics, context);
    const comparison =
      other === null
        ? null
        : compareRetrieval(measured.scores.perQuery, other.perQuery, names, { seed });
    print(flags, measured, comparison, context);
    if (runOut !== undefined) await writeRun(runOut, measured.run, measured.name);
    const skipped = set.queries.length - judged.length;
    if (skipped > 0) context.note(`${skipped} queries without a relevant passage were left out.`);
    for (const note of notesOn(measured, judgedSet)) context.note(note);
    requireScores(requirements, measured.scores.metrics);
  },
});

async function setOf(flags: EvalRetrievalFlags): Promise<RetrievalSet> {
  if (flags.dataset !== undefined) return beirSet(flags.dataset, flags.split ?? "test");
  if (flags.questions !== undefined) return questionsSet(flags.questions);
  return filesSet(flags.qrels ?? "", flags.queries);
}

async function measure(
  flags: EvalRetrievalFlags,
  set: RetrievalSet,
  metrics: readonly RetrievalMetric[],
  context: CliContext,
): Promise<Measured> {
  const { seed = 0 } = flags;
  if (flags.run !== undefined) {
    const run = await matchingRun(flags.run, "--run", set);
    return {
      scores: scoreRun(run, set.queries, set.qrels, { metrics, seed }),
      run,
      name: flags.run,
      readsGold: false,
    };
  }
  const corpus = flags.retriever === undefined ? {} : { corpus: set.corpus };
  const retriever = await openRetrieverFlags(definedValues({ ...corpus, ...flags }));
  const { queries, qrels } = set;
  const bar = { label: "searching", total: queries.length, unit: "queries" };
  const given = { metrics, seed, depth: flags.depth ?? depthOf(metrics), signal: context.signal };
  try {
    const { run, ...scores } = await withProgress(context, bar, (onProgress) =>
      evaluateRetrieval(retriever, queries, qrels, { ...given, onProgress }),
    );
    return { scores, run, name: retriever.name, readsGold: readsGold(retriever) };
  } finally {
    await retriever.close();
  }
}

/** Scores of the run of --compare, read before the search, so that a typing error costs no time. */
async function otherScores(
  { compare: path }: EvalRetrievalFlags,
  set: RetrievalSet,
  metrics: readonly RetrievalMetric[],
): Promise<RetrievalScores | null> {
  if (path === undefined) return null;
  const run = await matchingRun(path, "--compare", set);
  return scoreRun(run, set.queries, set.qrels, { metrics });
}

/** @throws {DataError} RUN_UNMATCHED when it ranks none of the queries. */
async function matchingRun(path: string, flag: string, set: RetrievalSet): Promise<RetrievalRun> {
  const run = await readRun(path);
  if (set.queries.some(({ id }) => run.has(id))) return run;
  throw new DataError(
    "RUN_UNMATCHED",
    `${flag} ${path}: ranks none of the ${set.queries.length} judged queries of ${set.names.qrels}. Check that both are of one dataset and split.`,
  );
}

function print(
  flags: EvalRetrievalFlags,
  { scores, name, readsGold: control }: Measured,
  comparison: MetricComparison[] | null,
  context: CliContext,
): void {
  const { n, metrics, intervals, groups, perQuery, fingerprint } = scores;
  if (flags.json === true) {
    const hops = Object.keys(groups.hops).length === 0 ? {} : { groups };
    const compared =
      comparison === null ? {} : { compare: { with: flags.compare, metrics: comparison } };
    const detail = flags.perQuery === true ? { perQuery } : {};
    const about = { ...hops, ...compared, readsGold: control ? true : undefined, fingerprint };
    context.out(JSON.stringify({ n, metrics, intervals, ...about, ...detail }));
  } else {
    context.out([
      ...retrievalBlocks(name, scores),
      ...(control ? [{ kind: "warning" as const, text: READS_GOLD }] : []),
      ...(comparison === null ? [] : retrievalComparisonBlocks(flags.compare ?? "", comparison)),
    ]);
  }
}

/** Notes beside the numbers. */
function notesOn({ scores, run }: Measured, { queries, qrels }: RetrievalSet): string[] {
  const hits = queries.map(({ id }) => run.get(id) ?? []);
  const empty = hits.filter((list) => list.length === 0).length;
  const judged = queries.some(({ id }, i) => hits[i]?.some((hit) => qrels.get(id)?.has(hit.id)));
  return [
    ...(empty > 0 ? [`Queries without any hit: ${empty} of ${scores.n}; they count 0.`] : []),
    ...(judged || empty === hits.length
      ? []
      : [
          "No hit of any query is judged: the passages' ids and those of the judgements may be of two collections.",
        ]),
  ];
}

function unmatched({ names, queries }: RetrievalSet): DataError {
  return new DataError(
    "QRELS_UNMATCHED",
    `${names.qrels}: judges no passage relevant to any of the ${queries.length} queries of ${names.queries}. Check that both are of one dataset and split.`,
  );
}

/** Checks the flags of the retriever or run to score. @throws {ConfigError} USAGE */
function checkMeasured(flags: EvalRetrievalFlags): void {
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

/** Checks the flags of queries and judgements: exactly one complete test set. @throws {ConfigError} USAGE */
function checkTestSet(flags: EvalRetrievalFlags): void {
  const { run, dataset, split, questions, queries, qrels } = flags;
  const given = Object.entries({ dataset, questions, qrels: qrels ?? queries });
  const sets = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]));
  if (sets.length > 1)
    throw usage(`${sets.join(" and ")} are both given: measure on one test set at a time.`);
  if (split !== undefined && dataset === undefined)
    throw usage("--split is given without --dataset: only a BEIR folder has splits.");
  if (dataset !== undefined || questions !== undefined) return;
  if (qrels === undefined && queries === undefined)
    throw usage("--dataset, --questions or --queries with --qrels is missing: name the test set.");
  if (qrels === undefined) throw usage("--qrels is missing: give the judgements of --queries.");
  if (queries === undefined && run === undefined)
    throw usage("--queries is missing: name the queries of --qrels; only a --run needs none.");
}

/**
 * The metrics of --metrics, each once, or the default ones.
 * @throws {ConfigError} USAGE for an unknown metric, or one with a cutoff above --depth.
 */
function metricsOf({ metrics, questions, depth }: EvalRetrievalFlags): RetrievalMetric[] {
  const support = questions === undefined ? [] : ["support@5", "support@10"];
  const names = metrics?.split(",").map((name) => name.trim());
  const chosen = [...new Set(names ?? [...DEFAULT_RETRIEVAL_METRICS, ...support])].map((name) =>
    retrievalMetric(name, "--metrics"),
  );
  const deeper = chosen.find(
    ({ cutoff }) => cutoff !== null && depth !== undefined && cutoff > depth,
  );
  if (deeper !== undefined && depth !== undefined)
    throw usage(
      `--depth is ${depth}, but ${deeper.name} looks deeper: ask for more hits, or name the metrics with --metrics.`,
    );
  return chosen;
}
