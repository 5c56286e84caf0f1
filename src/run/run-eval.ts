import { withParts } from "../base/registry.ts";
import { actsInThought } from "../env/protocols/thoughts.ts";
import { deferring } from "../base/deferring.ts";
import { definedValues } from "../base/defined-values.ts";
import type { Dataset, DatasetSetting } from "../data/dataset.ts";
import type { Fields } from "../data/fields.ts";
import { inShuffledOrder } from "../data/shuffled-order.ts";
import type { Environment } from "../env/environments/environment.ts";
import {
  type EvaluationLog,
  openEvaluationLog,
  requireNoRows,
} from "../evaluate/evaluation-log.ts";
import type { EvaluationSummary } from "../evaluate/evaluation-summary.ts";
import { type ProtocolParts, shortHash } from "../evaluate/fingerprint.ts";
import { type EvaluationTimings, openTimings } from "../evaluate/timings.ts";
import { type MeterReading, costOf } from "../http/meter.ts";
import { noneRetriever } from "../retrieval/controls/none.ts";
import { openIndexFolder } from "../retrieval/open-index-folder.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { openStrategy } from "../rollout/strategies/named-strategy.ts";
import type { Roles } from "../trajectory/role.ts";
import { datasetNamed } from "../worlds/open-dataset.ts";
import { environmentOver, openNamedDataset, retrieverOver } from "./assemble.ts";
import {
  type MeasuredEvaluation,
  type ProtocolSoFar,
  evaluateSubject,
  protocolOf,
} from "./evaluation.ts";
import { setsOf } from "./evaluation-sets.ts";
import { runStage } from "./folder/run-file.ts";
import { startRun } from "./folder/run-folder.ts";
import type { Session } from "./session.ts";
import type { RunRecord } from "./settings/resolved-yaml.ts";
import type { StageResult } from "./stages/stage.ts";
import { type RoleOptions, openRoles } from "./roles.ts";
import { type Settings, settingsSchema } from "./settings/settings-schema.ts";
import { type PolicyIdentity, type PolicyUnderTest, resolvePolicy } from "./resolve-policy.ts";

/** An evaluation beside its settings. */
export interface EvalOptions {
  /** Index folder to search; without it BM25 in memory over the dataset's own passages. */
  index?: string;
  /** Evaluate only the first n questions. */
  limit?: number;
  /** Seed of a random order of the questions, each type in its share; default: the dataset's order. */
  shuffle?: number;
}

/** The session of an evaluation: without `out` nothing is written. */
type EvalSession = Omit<Session, "out"> & { out?: string; settings: Settings; record: RunRecord };

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
export interface EvalOutcome extends StageResult {
  result: EvalResult;
  timings: EvaluationTimings;
  /** What a server was asked in this run. */
  requests?: MeterReading;
  /** The last message of the first rollout of this run that gave no answer, and the pattern that reads answers. */
  unanswered?: { reply: string; pattern: string };
  /** Messages of this run's rollouts, and those whose answer stands inside of a thought; absent where there is none. */
  answersInThoughts?: { messages: number; inside: number };
}

/**
 * Evaluates the policy of a recipe's settings as its `evaluation` says. With `out` it is a run, whose folder the driver holds.
 *
 * @throws {ConfigError} EVALUATION_EXISTS
 * @throws {DataError} when policy, dataset or index cannot be read, each by its own code.
 * @throws {ScoreError} EVALUATION_GIVEN_UP
 */
export function evaluatePolicy(session: EvalSession, given: EvalOptions): Promise<EvalOutcome> {
  const { settings, record } = session;
  const options = { ...session, ...given };
  const { seed, evaluation } = settings;
  const { signal, out, resume = false } = options;
  return deferring(async (defer) => {
    // Before anything that takes minutes: the policy may be a base that is made first, or a download.
    if (out !== undefined && !resume) requireNoRows(out);
    const tested = await resolvePolicy(settings, { ...options.download, signal });
    const { identity: policy } = tested;
    const dataset = await openNamedDataset(evaluation.dataset, settings.environment);
    const retriever = await searchedForEvaluation(dataset, settings, options.index);
    defer(() => retriever.close());
    const protocol = protocolOf(settings, dataset, retriever, tested.rendering);
    const log = await openLog(options, { protocol, policy, seed });
    defer(() => log?.close());
    if (out !== undefined) {
      // The flags too, so that it can be resumed from its folder.
      const options = definedValues({ ...given });
      await startRun(out, record, {
        version: session.version,
        stages: [runStage("evaluate", "evaluate", { number: 1, options })],
        manifest: { hashes: definedValues({ policy: policy.sha256 ?? undefined }) },
      });
    }
    const held: RoleOptions = { download: { ...options.download, signal } };
    const roles = openRoles(settings, held);
    defer(() => roles.close());
    const environment = environmentOver(retriever, settings, "evaluation", roles);
    const opened = { dataset, environment, retriever, roles, held, log };
    const { measured, ...rest } = await answerAll({ options, tested, protocol, ...opened });
    const { summary, fingerprint, readsGold } = measured;
    const result: EvalResult = {
      ...summary,
      ...costPerQuestion(settings, summary),
      fingerprint,
      protocol: measured.protocol,
      policy,
      seed,
      readsGold,
      dataset: dataset.name,
      strategy: strategyName(protocol),
      recipe: { name: record.recipe, tier: record.tier },
    };
    await log?.finish(result);
    return { policy: null, result, ...rest };
  });
}

/**
 * The setting that `--dataset` means: the recipe's own held-out questions under their name, those of `evaluation.sets` after its first,
 * else the default ones, else what `datasetNamed` takes: a registered dataset, NAME:SPLIT of one, a question file, a folder of BEIR.
 *
 * @param fields the user's names for the fields of a question file.
 * @throws {ConfigError} PART_UNKNOWN when it is none of these; USAGE for fields of a dataset whose fields are known.
 */
export async function evaluationDataset(
  given: string,
  settings: Settings,
  fields: Fields = {},
): Promise<DatasetSetting> {
  const { evaluation } = await withParts(() => settingsSchema.parse({}));
  const own = [settings, ...setsOf(settings).map((set) => set.settings)];
  const known = [...own.map((each) => each.evaluation.dataset), evaluation.dataset];
  const named = known.find(({ name }) => name === given);
  const isOwn = Object.keys(fields).length > 0;
  return named === undefined || isOwn ? datasetNamed(given, "--dataset", fields) : named;
}

function strategyName({ strategy }: Pick<ProtocolParts, "strategy">): string {
  return typeof strategy === "string" ? strategy : strategy.name;
}

interface EvalWork {
  options: EvalSession & EvalOptions;
  tested: PolicyUnderTest;
  dataset: Dataset;
  environment: Environment;
  retriever: Retriever;
  roles: Roles;
  /** What the role `policy` asks: set when the policy is open. */
  held: RoleOptions;
  log: EvaluationLog | null;
  protocol: ProtocolSoFar;
}

function answerAll(
  work: EvalWork,
): Promise<Omit<EvalOutcome, "result" | "policy"> & { measured: MeasuredEvaluation }> {
  const { options, tested, dataset, environment, roles, log, protocol } = work;
  const { settings } = options;
  return deferring(async (defer) => {
    const opened = await tested.open(environment);
    const { policy, meter } = opened;
    if (opened.held !== undefined) work.held.policy = opened.held;
    defer(() => opened.close());
    const timings = openTimings();
    const begun = performance.now();
    const { limit, shuffle } = options;
    const questions = options.countsFirst === true ? await countOf(dataset, limit) : null;
    const ordered = shuffle === undefined ? dataset : inShuffledOrder(dataset, shuffle);
    const draws = questions === null ? null : questions * settings.evaluation.samplesPerTask;
    const { pattern } = environment.protocol.answer;
    let unanswered: EvalOutcome["unanswered"];
    const answersInThoughts = { messages: 0, inside: 0 };
    options.onStart?.({ total: draws, kept: log?.kept ?? 0 });
    const scoring = { retriever: work.retriever, tokenizer: opened.held?.engine.tokenizer };
    const measured = await evaluateSubject(
      { settings, policy, environment, roles, protocol, scoring },
      {
        tasks: ordered.stream(limit),
        signal: options.signal,
        window: tested.window,
        clock: () => performance.now(),
        known: (task, sample) => log?.known(task, sample),
        onProgress: (progress) => options.onProgress?.(progress),
        onRow: async (row, trajectory) => {
          timings.add(trajectory);
          const reply = row.answer === null ? trajectory.turns.at(-1)?.text : undefined;
          if (reply !== undefined) unanswered ??= { reply, pattern };
          const answering = trajectory.turns.filter(({ actions: [action] }) => action?.tool === "answer"); // prettier-ignore
          const inside = answering.filter(({ text }) => actsInThought(text, environment.protocol));
          answersInThoughts.messages += answering.length;
          answersInThoughts.inside += inside.length;
          await log?.append(row, trajectory);
        },
      },
    );
    const seconds = (performance.now() - begun) / 1000;
    return {
      measured,
      timings: timings.timings(seconds),
      requests: meter === undefined ? undefined : meter.reading(),
      unanswered,
      answersInThoughts: answersInThoughts.inside === 0 ? undefined : answersInThoughts,
    };
  });
}

async function countOf(dataset: Dataset, limit: number | undefined): Promise<number> {
  let count = 0;
  for await (const _ of dataset.stream(limit)) count += 1;
  return count;
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

/**
 * What an evaluation's searches answer from.
 * @param index folder that is searched; undefined: the recipe's retriever over the dataset's own passages.
 */
export function searchedForEvaluation(
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
  { out, resume = false }: EvalSession,
  given: { protocol: ProtocolSoFar; policy: PolicyIdentity; seed: number },
): Promise<EvaluationLog | null> {
  if (out === undefined) return Promise.resolve(null);
  // A row depends on its own question, not on how many there are.
  // Nor on where its policy lies: equal weights are the same policy by any name.
  const policy = given.policy.sha256 ?? given.policy;
  return openEvaluationLog(out, { identity: shortHash({ ...given, policy }), resume });
}
