import { join } from "node:path";
import { algorithms, readsReference } from "../../algorithms/index.ts";
import { type LoopState, type OnPolicyStep, trainOnPolicy } from "../../algorithms/on-policy.ts";
import { deferring } from "../../base/deferring.ts";
import { ConfigError } from "../../base/errors.ts";
import { withParts } from "../../base/registry.ts";
import type { Dataset } from "../../data/dataset.ts";
import { type PolicyEngine, heldWeights } from "../../engine/engine.ts";
import { evaluationName } from "../../evaluate/policy-label.ts";
import { noneRetriever } from "../../retrieval/controls/none.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import { environmentOver, openNamedDataset, policyOf } from "../assemble.ts";
import { checkBeforeTraining } from "../check-rewards.ts";
import { budgetFacts } from "../checks/budget-facts.ts";
import { checkBudgets, requireSoundBudgets } from "../checks/check-budgets.ts";
import { requireAheadFits, samplesAhead } from "../checks/off-policy.ts";
import { checkpointFolder } from "../folder/checkpoints.ts";
import { runStage } from "../folder/run-file.ts";
import {
  type AroundTraining,
  type EvaluationSet,
  type Measured,
  aroundTraining,
  setsOf,
} from "../evaluation-sets.ts";
import {
  type HeldOutEvaluation,
  recordedEvaluation,
  recordedEvaluations,
} from "../held-out-evaluation.ts";
import { openRoles } from "../roles.ts";
import type { StageSession } from "../stages/stage.ts";
import { restoreSnapshots, takeSnapshots } from "../snapshots.ts";
import { checkFirstBatch } from "./first-batch.ts";
import { type AlgorithmSettings, assembleOnPolicyRun, onPolicyOptions } from "./on-policy-run.ts";
import { HELD_OUT_EM, openRewardProgress } from "./progress.ts";
import { rewardScoring } from "./reward-scoring.ts";
import { unlessDiverged } from "./rollback.ts";
import { evaluateNow, runTraining } from "./run-training.ts";
import type {
  OpenTraining,
  TrainingLeg,
  TrainingMethod,
  TrainingSession,
  TrainingStart,
} from "./training-method.ts";

export interface TrainResult {
  run: string;
  /** Where the policy ran. */
  device: string;
  /** Steps done in all. */
  steps: number;
  checkpoint: string;
  wallSeconds: number;
  eval: AroundTraining<HeldOutEvaluation>;
}

/** How far a trial goes. */
export interface TrialLength {
  /** Held-out questions before and after, at most. */
  questions: number;
  /** Asked after each step. @param step from 1. */
  isEnough: (step: number) => boolean;
}

/** What of a training by rollouts differs with what it is for. */
type Ends<R> = Pick<TrainingMethod<R>, "stages"> &
  Pick<OpenTraining<R>, "begin" | "finish" | "policy"> &
  Partial<Pick<OpenTraining<R>, "openProgress">>;

/**
 * Trains by reinforcement as a recipe's `algorithm` says.
 *
 * @param ends `evaluatedAround()`, `trialOf()` or `oneOfSeveral`.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no `algorithm`; REWARD_CHECK_FAILED when a reward does not score known answers
 *   as it declares; BUDGETS_UNFIT, VOCABULARY_UNFIT, DATASET_NOT_TRAINABLE.
 * @throws as `runTraining`.
 */
export function trainByRollouts<R>(
  session: StageSession,
  { stages, ...ends }: Ends<R>,
): Promise<R> {
  const { settings, record } = session;
  const { algorithm } = settings;
  if (algorithm === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${record.path}: has no "algorithm"; add one (${algorithms.names.join(", ")}), or use agentrl sft.`,
    );
  }
  requireAheadFits(settings);
  const method: TrainingMethod<R> = {
    stages,
    learnsFrom: "questions",
    length: "algorithm.steps",
    open: async (start) => ({ ...(await open(start, algorithm)), ...ends }),
  };
  return runTraining(method, session);
}

/** A training that is evaluated before and after on the same held-out questions, by the engine that it has open. */
export function evaluatedAround(): Ends<TrainResult> {
  let before: Measured<HeldOutEvaluation>;
  return {
    stages: [
      runStage("before", "evaluate"),
      runStage("train", "train", { number: 1 }),
      runStage("after", "evaluate"),
    ],
    begin: async (session) => {
      before = await evaluations(session, "before");
    },
    finish: async (session, { done, seconds }) => {
      const after = await evaluations(session, "after");
      return {
        run: session.run.path,
        device: session.engine.machine.device,
        steps: done,
        checkpoint: done === 0 ? session.model : checkpointFolder(session.run.path, done),
        wallSeconds: seconds(),
        eval: aroundTraining(before, after),
      };
    },
  };
}

/** The first steps of a training, to see what they take. */
export function trialOf({ questions, isEnough }: TrialLength): Ends<unknown> {
  return {
    stages: [runStage("train", "train", { number: 1 })],
    openProgress: () => {
      let done = 0;
      return {
        best: null,
        kept: null,
        safe: 0,
        add: ({ step }) => (done = step),
        get enough() {
          return done > 0 && isEnough(done);
        },
      };
    },
    begin: async (session) => {
      await someQuestions(session, "before", questions);
    },
    finish: (session) => someQuestions(session, "after", questions),
  };
}

/** A stage of several: it evaluates nothing, and leaves its policy in `policy/` for the next stage, not the checkpoint, whose optimiser is its own. */
export const oneOfSeveral: Ends<{ policy: string; steps: number }> = {
  stages: [runStage("train", "train", { number: 1 })],
  policy: {},
  finish: ({ run }, { done }) => Promise.resolve({ policy: join(run.path, "policy"), steps: done }),
};

async function open(
  start: TrainingStart,
  algorithm: AlgorithmSettings,
): Promise<Omit<OpenTraining<unknown>, "begin" | "finish" | "policy">> {
  const { session, model, from } = start;
  const { settings } = session;
  const train = await openNamedDataset(settings.dataset, settings.environment);
  requireTrainingSet(train);
  const held = await openNamedDataset(settings.evaluation.dataset, settings.environment);
  const rewardCheck = await checkBeforeTraining(session, train, session.signal);
  session.onRewardCheck?.(rewardCheck);
  const engine = await start.openEngine();
  // A resumed run has these warnings already.
  const warns = from === null && settings.budgetCheck;
  const { every } = settings.checkpoints;
  const usesEvaluations = settings.evaluation.during !== undefined;
  const sets = setsOf(settings);
  return {
    engine,
    held,
    rewardCheck,
    totalSteps: onPolicyOptions(algorithm).steps,
    data: {
      dataset: { file: settings.dataset.name, sha256: train.fingerprint },
      evaluationDataset: { file: settings.evaluation.dataset.name, sha256: held.fingerprint },
      ...Object.fromEntries(await Promise.all(sets.map(setData))),
    },
    warnings: warns ? await budgetWarnings(session, { engine, train, model }) : [],
    products: [null, ...sets.map(({ set }) => set)].map((set) =>
      join("eval", `${evaluationName(set, "after")}.json`),
    ),
    needsReference: readsReference(algorithm),
    openProgress: () => openRewardProgress({ every, usesEvaluations }),
    train: (session, leg) => learn(session, leg, { algorithm, train }),
  };
}

function learn(
  session: TrainingSession,
  leg: TrainingLeg,
  { algorithm, train }: { algorithm: AlgorithmSettings; train: Dataset },
): Promise<void> {
  const { settings, options, run, engine, model } = session;
  const { firstStep, learningRateFactor, afterStep } = leg;
  const { signal } = options;
  return deferring(async (defer) => {
    const held = samplesAhead(settings) ? heldWeights(engine) : null;
    const roles = openRoles(settings, {
      policy: { engine: held?.engine ?? engine, model },
      download: { ...options.download, signal },
    });
    defer(() => roles.close());
    const from = { algorithm, engine, held, train, model, signal, roles };
    const { run: assembled, retriever, close } = await assembleOnPolicyRun(settings, from);
    defer(close);
    const { environment } = assembled;
    await restoreSnapshots(settings, engine, run.path, firstStep);
    await trainOnPolicy({
      ...assembled,
      firstStep,
      learningRateFactor,
      ...rewardScoring(session, { retriever, roles }),
      onStepBegin: (step) => takeSnapshots(settings, engine, run.path, step),
      state: (leg.state as LoopState | undefined) ?? null,
      onBatch: async (trajectories, step) => {
        await run.trajectories(step, trajectories);
        options.onBatch?.(trajectories, step);
        if (step > firstStep + 1 || !settings.batchCheck) return;
        const file = join(run.path, "trajectories", `step-${step}.jsonl`);
        const by = { settings, engine, environment, step, file };
        await run.event(await checkFirstBatch(trajectories, by));
      },
      onStep: async (outcome) => {
        const { step, trajectories } = outcome;
        const metrics = { ...outcome.metrics, ...(await evaluatedOnTheWay(session, step)) };
        const timing = timingOf(outcome);
        return afterStep({ step, metrics, timing, trajectories, state: outcome.state });
      },
    });
  });
}

/** Evaluates where the recipe asks for it. @returns what belongs to the step's metrics. */
async function evaluatedOnTheWay(
  session: TrainingSession,
  step: number,
): Promise<Record<string, number>> {
  const { during } = session.settings.evaluation;
  if (during === undefined || step % during.every !== 0) return {};
  const evaluated = await unlessDiverged(() => evaluateNow(session, `step-${step}`));
  if (evaluated === null) return {};
  const { metrics } = evaluated;
  return { [HELD_OUT_EM]: metrics.em, "eval/f1": metrics.f1 };
}

function timingOf({ timings, tokens }: OnPolicyStep): Record<string, number> {
  const { rollout, update } = timings;
  const tokensPerSecond = ((tokens.sampled + tokens.trained) / (rollout + update)) * 1000;
  return { ...timings, tokensPerSecond };
}

/** Checks the budgets against each other, and against questions, passages and model. @throws {ConfigError} BUDGETS_UNFIT, VOCABULARY_UNFIT */
async function budgetWarnings(
  { settings, record }: StageSession,
  { engine, train, model }: { engine: PolicyEngine; train: Dataset; model: string },
): Promise<RunEvent[]> {
  const environment = environmentOver(noneRetriever(), settings);
  const policy = await policyOf(engine, settings, model, environment);
  const facts = await budgetFacts(settings, train, policy);
  const findings = await withParts(() => checkBudgets(settings, record, facts));
  requireSoundBudgets(findings);
  const warnings = findings.filter(({ severity }) => severity === "warning");
  return warnings.map(({ key, origin, message }) => ({
    kind: "budgets",
    step: 0,
    message: `${key} (${origin}): ${message}`,
    facts: { key },
  }));
}

/** @throws {ConfigError} DATASET_NOT_TRAINABLE */
function requireTrainingSet({ name, trainable }: Dataset): void {
  if (trainable) return;
  throw new ConfigError(
    "DATASET_NOT_TRAINABLE",
    `dataset is "${name}", a test set that must stay out of training. Train on another; evaluation.dataset may name it.`,
  );
}

/** The questions of a set, for the manifest. */
async function setData({
  set,
  settings: { evaluation, environment },
}: EvaluationSet): Promise<[name: string, data: { file: string; sha256: string }]> {
  const { fingerprint } = await openNamedDataset(evaluation.dataset, environment);
  return [`evaluation.sets.${set}`, { file: evaluation.dataset.name, sha256: fingerprint }];
}

/** Evaluates before or after; a resumed run reads the results that it has. */
async function evaluations(
  session: TrainingSession,
  when: "before" | "after",
): Promise<Measured<HeldOutEvaluation>> {
  const { settings, options, run, engine, model, resumed: known } = session;
  return recordedEvaluations(
    { settings, engine, held: await session.held(), model },
    run,
    { when, known, signal: options.signal },
    options,
  );
}

/** Evaluates the first questions, for a trial. */
async function someQuestions(
  session: TrainingSession,
  name: "before" | "after",
  limit: number,
): Promise<void> {
  const { settings, options, run, engine, model } = session;
  await recordedEvaluation(
    { settings, engine, held: await session.held(), model },
    run,
    { name, known: false, signal: options.signal, limit },
    options,
  );
}
