import { leavesOf } from "../base/leaves.ts";
import { type Dataset, datasetNamed, type DatasetSetting } from "../data/datasets.ts";
import type { Environment } from "../env/environments/environment.ts";
import {
  evaluate,
  evaluatePolicy,
  type EvaluationProgress,
  type EvaluationRun,
} from "../evaluate/evaluate.ts";
import { type EvaluationLog, openEvaluationLog } from "../evaluate/evaluation-log.ts";
import { ANSWER_METRICS_VERSION } from "../evaluate/evaluation-row.ts";
import type { EvaluationSummary } from "../evaluate/evaluation-summary.ts";
import { fingerprintOf, type ProtocolParts, shortHash } from "../evaluate/fingerprint.ts";
import { type EvaluationTimings, openTimings } from "../evaluate/timings.ts";
import { costOf, type MeterReading } from "../http/meter.ts";
import { noneRetriever } from "../retrieval/controls/none.ts";
import { openIndexFolder } from "../retrieval/open-index-folder.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { openStrategy, strategyMark } from "../rollout/strategies/named-strategy.ts";
import {
  budgetsFor,
  environmentOver,
  openNamedDataset,
  type PolicyDownload,
  retrieverOver,
} from "./assemble.ts";
import { withRunLock } from "./folder/run-lock.ts";
import { type Settings, settingsSchema } from "./settings/settings-schema.ts";
import type { ResolvedSettings } from "./settings/settings.ts";
import { findTestedPolicy, type PolicyIdentity, type TestedPolicy } from "./tested-policy.ts";

export interface RunEvalOptions {
  /** Index folder to search; without it BM25 in memory over the dataset's own passages. */
  index?: string;
  /** At most so many questions, from the start. */
  limit?: number;
  /** Folder for `rows.jsonl`, `trajectories.jsonl` and `results.json`; nothing is written without it. */
  out?: string;
  /** Go on with the rows that `out` holds. */
  resume?: boolean;
  signal: AbortSignal;
  /** When the policy is one of the hub. */
  download?: PolicyDownload;
  /** Reads the questions once to count them, for who shows how far it is; they are streamed. */
  countFirst?: boolean;
  /**
   * @param start.draws questions times draws; null without `countFirst`.
   * @param start.kept rows taken over from an interrupted run.
   */
  onStart?: (start: { draws: number | null; kept: number }) => void;
  onProgress?: (progress: EvaluationProgress) => void;
}

/** What `results.json` holds: the same for the same seed, so no times. */
export interface EvalResult extends EvaluationSummary {
  /** Hash of `protocol`: only results of one fingerprint are comparable. */
  fingerprint: string;
  protocol: ProtocolParts;
  /** Whether a tool or the retriever looked at the questions' gold: a control, no result. */
  readsGold: boolean;
  policy: PolicyIdentity;
  /** Of a server whose price is known: mean over draws, failed attempts left out. */
  costPerQuestion?: { amount: number; currency: string };
  dataset: string;
  strategy: string;
  seed: number;
  recipe: { name: string; tier: string };
}

/** An evaluation as it went. */
export interface EvalOutcome {
  result: EvalResult;
  timings: EvaluationTimings;
  /** What a server was asked in this run. */
  requests?: MeterReading;
}

/**
 * Evaluates the policy of a recipe's settings as its `evaluation` says.
 *
 * @throws {ConfigError} EVALUATION_EXISTS
 * @throws {ExternalError} RUN_BUSY
 * @throws {DataError} when policy, dataset or index cannot be read, each by its own code.
 * @throws {ScoreError} EVALUATION_GIVEN_UP
 */
export async function runEval(
  resolved: ResolvedSettings<Settings>,
  options: RunEvalOptions,
): Promise<EvalOutcome> {
  const { out } = options;
  const work = (): Promise<EvalOutcome> => evaluateAs(resolved, options);
  return out === undefined ? work() : withRunLock(out, work);
}

async function evaluateAs(
  { recipe, tier, settings }: ResolvedSettings<Settings>,
  options: RunEvalOptions,
): Promise<EvalOutcome> {
  const { seed, evaluation } = settings;
  const tested = await findTestedPolicy(settings, { ...options.download, signal: options.signal });
  const { identity: policy } = tested;
  const dataset = await openNamedDataset(evaluation.dataset);
  const retriever = await openRetriever(dataset, settings, options.index);
  try {
    const protocol = protocolOf(settings, dataset, retriever, tested.rendering);
    const log = await openLog(options, { protocol, policy, seed });
    try {
      const environment = environmentOver(retriever, settings, "evaluation");
      const work = { settings, options, tested, dataset, environment, log };
      const { summary, timings, requests } = await answerAll(work);
      const questions = Math.round(askedDraws(summary) / summary.samplesPerTask);
      const stated = { ...protocol, questions };
      const result: EvalResult = {
        ...summary,
        ...costPerQuestion(settings, summary),
        ...{ fingerprint: fingerprintOf(stated).hex, protocol: stated, policy, seed },
        readsGold:
          environment.readsGold ||
          openStrategy(evaluation.strategy, "evaluation.strategy").readsGold,
        ...{ dataset: dataset.name, strategy: strategyName(protocol) },
        recipe: { name: recipe.name, tier },
      };
      await log?.finish(result);
      return { result, timings, ...(requests === undefined ? {} : { requests }) };
    } finally {
      await log?.close();
    }
  } finally {
    await retriever.close();
  }
}

/** What a policy was measured under, for the fingerprint of its result; how many questions is added when it is known. */
export function protocolOf(
  settings: Settings,
  dataset: Dataset,
  retriever: Retriever,
  rendering: unknown,
): Omit<ProtocolParts, "questions"> {
  const common = { dataset: dataset.fingerprint, metrics: ANSWER_METRICS_VERSION };
  if (settings.policy.predictions !== undefined) {
    const nothing = { retriever: "none", topK: {}, environment: null, prompt: "", sampling: null };
    return { ...common, ...nothing, strategy: "predictions" };
  }
  const { prompt, ...own } = settings.environment as Record<string, unknown>;
  const environment = { ...own, budgets: budgetsFor(settings, "evaluation") };
  const shown = [...leavesOf(environment)].filter(([keys]) => keys.at(-1) === "topK");
  return {
    ...common,
    retriever: retriever.fingerprint,
    topK: Object.fromEntries(shown.map(([keys, value]) => [keys.join("."), value])),
    strategy: strategyMark(settings.evaluation.strategy),
    environment,
    prompt: typeof prompt === "string" ? prompt : "",
    ...(rendering === undefined ? {} : { rendering }),
    sampling: settings.evaluation.sampling,
  };
}

/**
 * The setting that `--dataset` means: the recipe's own held-out questions under their name, else the default ones, else what
 * `datasetNamed` takes: a registered dataset, NAME:SPLIT of one, a question file, a folder of BEIR.
 *
 * @throws {ConfigError} PART_UNKNOWN when it is none of these.
 */
export function evaluationDataset(given: string, settings: Settings): DatasetSetting {
  const defaults = settingsSchema.parse({}).evaluation.dataset;
  const named = [settings.evaluation.dataset, defaults].find(({ name }) => name === given);
  return named ?? datasetNamed(given, "--dataset");
}

function strategyName({ strategy }: Pick<ProtocolParts, "strategy">): string {
  return typeof strategy === "string" ? strategy : strategy.name;
}

interface EvalWork {
  settings: Settings;
  options: RunEvalOptions;
  tested: TestedPolicy;
  dataset: Dataset;
  environment: Environment;
  log: EvaluationLog | null;
}

async function answerAll({ settings, options, tested, dataset, environment, log }: EvalWork) {
  const { strategy, sampling, samplesPerTask } = settings.evaluation;
  const opened = await tested.open(environment);
  const timings = openTimings();
  const begun = performance.now();
  const run: EvaluationRun = {
    ...{ tasks: dataset.stream(options.limit), samplesPerTask, seed: settings.seed },
    signal: options.signal,
    ...(tested.window === undefined ? {} : { window: tested.window }),
    known: (task, sample) => log?.known(task, sample),
    onProgress: (progress) => options.onProgress?.(progress),
    onRow: async (row, trajectory) => {
      timings.add(trajectory);
      await log?.append(row, trajectory);
    },
  };
  try {
    const questions = options.countFirst === true ? await countOf(dataset, options.limit) : null;
    const draws = questions === null ? null : questions * samplesPerTask;
    options.onStart?.({ draws, kept: log?.kept ?? 0 });
    const { policy, meter } = opened;
    const clock = () => performance.now();
    const summary =
      typeof policy === "function"
        ? await evaluate(policy, run)
        : await evaluatePolicy({ policy, environment, strategy, sampling, clock, ...run });
    const seconds = (performance.now() - begun) / 1000;
    return { summary, timings: timings.timings(seconds), requests: meter?.reading() };
  } finally {
    await opened.close();
  }
}

async function countOf(dataset: Dataset, limit: number | undefined): Promise<number> {
  let count = 0;
  for await (const _ of dataset.stream(limit)) count += 1;
  return count;
}

/** Draws that were asked for, measured or not. */
function askedDraws({ ends }: EvaluationSummary): number {
  return Object.values(ends).reduce((sum, count) => sum + count, 0);
}

function costPerQuestion(
  { policy: { endpoint } }: Settings,
  { metrics }: EvaluationSummary,
): Pick<EvalResult, "costPerQuestion"> {
  const price = endpoint?.price;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = metrics;
  if (price == null || promptTokens === undefined || completionTokens === undefined) return {};
  const tokens = { promptTokens, completionTokens };
  return { costPerQuestion: { amount: costOf(tokens, price), currency: price.currency } };
}

function openRetriever(
  dataset: Dataset,
  settings: Settings,
  index: string | undefined,
): Promise<Retriever> {
  // Answers that were given elsewhere need no corpus.
  if (settings.policy.predictions !== undefined) return Promise.resolve(noneRetriever());
  const { searches } = openStrategy(settings.evaluation.strategy, "evaluation.strategy");
  if (index !== undefined && searches) return openIndexFolder(index);
  return retrieverOver(dataset, settings, "evaluation");
}

function openLog(
  { out, resume = false }: RunEvalOptions,
  given: { protocol: Omit<ProtocolParts, "questions">; policy: PolicyIdentity; seed: number },
): Promise<EvaluationLog | null> {
  if (out === undefined) return Promise.resolve(null);
  // A row depends on its own question, not on how many there are.
  // Nor on where its policy lies: equal weights are the same policy by any name.
  const policy = given.policy.sha256 ?? given.policy;
  return openEvaluationLog(out, { identity: shortHash({ ...given, policy }), resume });
}
