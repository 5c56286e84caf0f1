import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import type { Dataset } from "../../data/datasets.ts";
import { noneRetriever } from "../../retrieval/controls/none.ts";
import { algorithms, readsReference } from "../../train/index.ts";
import type { OnPolicyOptions } from "../../train/on-policy.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import {
  environmentOver,
  openEngine,
  openNamedDataset,
  policyOf,
  policyFolder,
  requireTrainable,
} from "../assemble.ts";
import { checkpointFolder } from "../folder/checkpoints.ts";
import { budgetFacts } from "../checks/budget-facts.ts";
import { checkBudgets, requireSoundBudgets } from "../checks/check-budgets.ts";
import { requireHonoured } from "../checks/ignored-settings.ts";
import { checkBeforeTraining } from "../check-rewards.ts";
import { withClaimedRun } from "../folder/claim-run.ts";
import { type HeldOutEvaluation, recordedEvaluation } from "../held-out-evaluation.ts";
import { learnOnPolicy } from "./learn-on-policy.ts";
import { resumePoint } from "../folder/resume-point.ts";
import { withRunFolder } from "../folder/run-folder.ts";
import { requireSameData, samePolicyHash } from "../folder/same-data.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import type { RunTrainOptions, TrainSession } from "./train-session.ts";

export interface TrainResult {
  run: string;
  /** Where the policy ran. */
  device: string;
  /** Steps done in all. */
  steps: number;
  checkpoint: string;
  wallSeconds: number;
  eval: { before: HeldOutEvaluation; after: HeldOutEvaluation };
}

/** Training without evaluations around it. */
export type LearnedPolicy = Omit<TrainResult, "eval">;

/**
 * Trains as a recipe says: evaluates before, trains, evaluates after on the same held-out questions, and writes the run folder.
 * Interrupted, it keeps a checkpoint of the last whole step; resumed from it, it goes on as if it had not stopped.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no `algorithm`; RUN_NOTHING_LEFT when there is no step to resume; RUN_DATA_CHANGED;
 *   REWARD_CHECK_FAILED when a reward does not score known answers as it declares; SETTING_IGNORED, BUDGETS_UNFIT.
 */
export async function runTrain(
  resolved: ResolvedSettings<Settings>,
  options: RunTrainOptions,
): Promise<TrainResult> {
  const evaluations: Partial<TrainResult["eval"]> = {};
  const learned = await runAlgorithm(resolved, options, async (session, name) => {
    evaluations[name] = await evaluation(session, name);
  });
  const { before, after } = evaluations as TrainResult["eval"];
  return { ...learned, eval: { before, after } };
}

/**
 * As `runTrain`, as a part of something longer that evaluates for itself.
 *
 * @param evaluate is asked before and after.
 */
export async function runAlgorithm(
  resolved: ResolvedSettings<Settings>,
  options: RunTrainOptions,
  evaluate: (session: TrainSession, name: "before" | "after") => Promise<void> = () =>
    Promise.resolve(),
): Promise<LearnedPolicy> {
  const begun = performance.now();
  const { settings } = resolved;
  const { algorithm } = settings;
  if (algorithm === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${resolved.recipe.path}: has no "algorithm"; add one (${algorithms.names.join(", ")}), or use agentrl sft.`,
    );
  }
  requireTrainable(settings);
  const { out, signal } = options;
  return withClaimedRun({ out, command: "train", resolved, use: options, signal }, () =>
    reinforce(resolved, { begun, algorithm, options, evaluate }),
  );
}

interface Reinforcement {
  begun: number;
  algorithm: NonNullable<Settings["algorithm"]>;
  options: RunTrainOptions;
  evaluate: (session: TrainSession, name: "before" | "after") => Promise<void>;
}

async function reinforce(
  resolved: ResolvedSettings<Settings>,
  { begun, algorithm, options, evaluate }: Reinforcement,
): Promise<LearnedPolicy> {
  const { settings } = resolved;
  if (options.allowIgnored !== true) requireHonoured(resolved);
  const { from, events } = await resumePoint(options.out, options.resume);
  const steps = (algorithm as unknown as OnPolicyOptions).steps;
  const last = join(options.out, "eval", "after.json");
  if (from !== null && (from.step > steps || (from.step === steps && existsSync(last)))) {
    throw new ConfigError(
      "RUN_NOTHING_LEFT",
      `${options.out}: its newest checkpoint is step ${from.step} of ${steps}; nothing is left to do. Raise algorithm.steps, or evaluate ${from.path}.`,
    );
  }
  const download = { ...options.download, signal: options.signal };
  const model = await policyFolder(settings.policy.from, download);
  const train = await openNamedDataset(settings.dataset);
  requireTrainingSet(train);
  const held = await openNamedDataset(settings.evaluation.dataset);
  const rewardCheck = await checkBeforeTraining(resolved, train, options.signal);
  options.onRewardCheck?.(rewardCheck);
  const hashes = {
    policy: await samePolicyHash(model, from === null ? null : options.out, download),
    dataset: train.fingerprint,
    evaluationDataset: held.fingerprint,
  };
  if (from !== null) {
    await requireSameData(options.out, "questions", {
      dataset: { file: settings.dataset.name, sha256: train.fingerprint },
      evaluationDataset: { file: settings.evaluation.dataset.name, sha256: held.fingerprint },
    });
  }
  const engine = await openEngine(settings, model);
  const { version, out, signal, onEvent } = options;
  const facts = { version, hashes, rewardCheck, afterStep: from?.step ?? 0 };
  try {
    // What goes on has been told before.
    if (from === null && settings.budgetCheck)
      events.push(...(await budgetWarnings(resolved, { engine, train, model })));
    return await withRunFolder(
      { engine, out, resolved, facts, events, onEvent, signal },
      async (run) => {
        const resumed = from !== null;
        const session = { settings, algorithm, options, run, engine, train, held, model, resumed };
        // Written last: while it is not there, there is something to do.
        await rm(last, { force: true });
        // The reference is what training starts from, also in a resumed run.
        if (readsReference(algorithm)) await engine.snapshot("reference");
        await evaluate(session, "before");
        if (from !== null) await engine.load(from.path);
        await learnOnPolicy(session, from);
        await evaluate(session, "after");
        return {
          ...{ run: out, device: engine.device, steps },
          checkpoint: steps === 0 ? model : checkpointFolder(out, steps),
          wallSeconds: Math.round((performance.now() - begun) / 100) / 10,
        };
      },
    );
  } finally {
    await engine.close();
  }
}

/** Holds the budgets against each other, and against questions, passages and model. @throws {ConfigError} BUDGETS_UNFIT */
async function budgetWarnings(
  resolved: ResolvedSettings<Settings>,
  { engine, train, model }: Pick<TrainSession, "engine" | "train" | "model">,
): Promise<RunEvent[]> {
  const { settings } = resolved;
  const environment = environmentOver(noneRetriever(), settings);
  const policy = await policyOf(engine, settings, model, environment);
  const findings = checkBudgets(resolved, await budgetFacts(settings, train, policy));
  requireSoundBudgets(findings);
  const warnings = findings.filter(({ severity }) => severity === "warning");
  return warnings.map(({ key, origin, message }) => ({
    ...{ kind: "budgets", step: 0, message: `${key} (${origin}): ${message}`, facts: { key } },
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

/** Evaluates before or after; a resumed run reads the result that it has. */
async function evaluation(
  { settings, options, run, engine, held, model, resumed }: TrainSession,
  name: "before" | "after",
): Promise<HeldOutEvaluation> {
  return recordedEvaluation(
    { settings, engine, held, model },
    run,
    { name, known: name === "before" && resumed, signal: options.signal },
    options,
  );
}
