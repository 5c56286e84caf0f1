import { existsSync } from "node:fs";
import { ConfigError } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import { datasets, type Dataset } from "../data/datasets.ts";
import type { Environment } from "../env/environments/environment.ts";
import {
  evaluatePolicy,
  type EvaluatePolicyOptions,
  type Evaluation,
} from "../evaluate/evaluate-policy.ts";
import { type EvaluationLog, openEvaluationLog } from "../evaluate/evaluation-log.ts";
import { ANSWER_METRICS_VERSION } from "../evaluate/evaluation-row.ts";
import type { EvaluationSummary } from "../evaluate/evaluation-summary.ts";
import { fingerprintOf, type ProtocolParts, shortHash } from "../evaluate/fingerprint.ts";
import { openIndexFolder } from "../retrieval/open-index-folder.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { enginePolicy } from "../rollout/policy.ts";
import { openStrategy, strategyMark } from "../rollout/strategies/named-strategy.ts";
import type { Task } from "../trajectory/task.ts";
import {
  environmentOver,
  openEngine,
  openNamedDataset,
  type PolicyDownload,
  baseFolder,
  policyFolder,
  retrieverOver,
} from "./assemble.ts";
import { leavesOf } from "./leaves.ts";
import { hashOfPolicy } from "./policy-hash.ts";
import { type Settings, settingsSchema } from "./settings-schema.ts";
import type { ResolvedSettings } from "./settings.ts";

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
  onStart?: (start: { draws: number; kept: number }) => void;
  onProgress?: EvaluatePolicyOptions["onProgress"];
}

/** What `results.json` holds: the same for the same seed, so no times. */
export interface EvalResult extends EvaluationSummary {
  /** Hash of `protocol`: only results of one fingerprint are comparable. */
  fingerprint: string;
  protocol: ProtocolParts;
  /** Whether a tool or the retriever looked at the questions' gold: a control, no result. */
  readsGold: boolean;
  policy: { from: string; sha256: string };
  dataset: string;
  strategy: string;
  seed: number;
  recipe: { name: string; tier: string };
}

/**
 * Evaluates `policy.from` of a recipe's settings as its `evaluation` says.
 *
 * @throws {ConfigError} EVALUATION_EXISTS
 * @throws {DataError} when policy, dataset or index cannot be read, each by its own code.
 */
export async function runEval(
  { recipe, tier, settings }: ResolvedSettings<Settings>,
  options: RunEvalOptions,
): Promise<EvalResult> {
  const { seed, evaluation } = settings;
  const { from } = settings.policy;
  const download = { ...options.download, signal: options.signal };
  const model = await policyFolder(from, download);
  const policy = { from, sha256: await hashOfPolicy(model, await baseFolder(model, download)) };
  const dataset = await openNamedDataset(evaluation.dataset);
  const tasks = await dataset.tasks(options.limit);
  const retriever = await openRetriever(dataset, settings, options.index);
  try {
    const protocol = protocolOf(settings, dataset, tasks, retriever);
    const log = await openLog(options, { protocol, policy: policy.sha256, seed });
    try {
      const environment = environmentOver(retriever, settings);
      const work = { settings, options, model, tasks, environment, log };
      const { rows, ...summary } = await evaluateWithEngine(work);
      const result: EvalResult = {
        ...summary,
        ...{ fingerprint: fingerprintOf(protocol).hex, protocol, policy, seed },
        readsGold: environment.readsGold,
        ...{ dataset: dataset.name, strategy: evaluation.strategy.name },
        recipe: { name: recipe.name, tier },
      };
      await log?.finish(rows, result);
      return result;
    } finally {
      await log?.close();
    }
  } finally {
    await retriever.close();
  }
}

/** What a policy was measured under, for the fingerprint of its result. */
export function protocolOf(
  settings: Settings,
  dataset: Dataset,
  tasks: readonly Task[],
  retriever: Retriever,
): ProtocolParts {
  const { prompt, ...environment } = settings.environment as Record<string, unknown>;
  const shown = [...leavesOf(environment)].filter(([keys]) => keys.at(-1) === "topK");
  return {
    dataset: dataset.fingerprint,
    questions: tasks.length,
    retriever: retriever.fingerprint,
    topK: Object.fromEntries(shown.map(([keys, value]) => [keys.join("."), value])),
    strategy: strategyMark(settings.evaluation.strategy),
    environment,
    prompt: typeof prompt === "string" ? prompt : "",
    sampling: settings.evaluation.sampling,
    metrics: ANSWER_METRICS_VERSION,
  };
}

/**
 * The setting that `--dataset` means: the recipe's own held-out questions under their name, else the default ones, else another
 * registered dataset with its defaults, else a question file.
 *
 * @throws {ConfigError} PART_UNKNOWN when it is neither a name nor a file.
 */
export function evaluationDataset(
  given: string,
  settings: Settings,
): { name: string } & Record<string, unknown> {
  const defaults = settingsSchema.parse({}).evaluation.dataset;
  const named = [settings.evaluation.dataset, defaults].find(({ name }) => name === given);
  if (named !== undefined) return named;
  if (datasets.names.includes(given)) return { name: given };
  // No corpus: that of another question file, where a recipe names one, does not belong to this one.
  if (existsSync(given)) return { name: "files", tasks: given, corpus: undefined };
  throw new ConfigError(
    "PART_UNKNOWN",
    `--dataset is "${given}"; there is no such file and no such dataset. ${suggest(given, datasets.names)}`,
  );
}

interface EvalWork {
  settings: Settings;
  options: RunEvalOptions;
  model: string;
  tasks: readonly Task[];
  environment: Environment;
  log: EvaluationLog | null;
}

async function evaluateWithEngine(work: EvalWork): Promise<Evaluation> {
  const { settings, options, model, tasks, environment, log } = work;
  const { strategy, sampling, samplesPerTask } = settings.evaluation;
  const engine = await openEngine(settings, model);
  try {
    options.onStart?.({ draws: tasks.length * samplesPerTask, kept: log?.kept ?? 0 });
    return await evaluatePolicy({
      ...{ tasks, strategy, sampling, samplesPerTask, environment, seed: settings.seed },
      policy: enginePolicy(engine, engine.tokenizer),
      signal: options.signal,
      known: (task, sample) => log?.known(task, sample),
      onProgress: (progress) => options.onProgress?.(progress),
      onRow: async (row, trajectory) => {
        await log?.append(row, trajectory);
      },
    });
  } finally {
    await engine.close();
  }
}

function openRetriever(
  dataset: Dataset,
  settings: Settings,
  index: string | undefined,
): Promise<Retriever> {
  const { searches } = openStrategy(settings.evaluation.strategy, "evaluation.strategy");
  if (index !== undefined && searches) return openIndexFolder(index);
  return retrieverOver(dataset, settings, "evaluation");
}

function openLog(
  { out, resume = false }: RunEvalOptions,
  given: { protocol: ProtocolParts; policy: string; seed: number },
): Promise<EvaluationLog | null> {
  if (out === undefined) return Promise.resolve(null);
  const { questions: _, ...protocol } = given.protocol;
  // A row depends on its own question, not on how many there are.
  return openEvaluationLog(out, { identity: shortHash({ ...given, protocol }), resume });
}
