import { join } from "node:path";
import { preferenceLosses } from "../../losses/preference/index.ts";
import {
  measurePairs,
  preferenceSteps,
  trainPreference,
  type PreferenceSettings,
} from "../../algorithms/preference.ts";
import { runStage } from "../folder/run-file.ts";
import type { StageSession } from "../stages/stage.ts";
import { openValidationProgress, type ValidationProgress } from "../train/progress.ts";
import { runTraining } from "../train/run-training.ts";
import type { OpenTraining, TrainingStart } from "../train/training-method.ts";
import { findPairFiles, loadPairs, type LoadedPairs, type PairFiles } from "./preference-data.ts";
import { studentOf } from "./student.ts";

export interface PreferenceResult {
  /** Folder of the policy alone, in half precision. */
  policy: string;
  checkpoint: string;
  /** Steps done in all. */
  steps: number;
  /** Whether it ended before its last step, because the validation loss rose. */
  stoppedEarly: boolean;
  pairs: number;
  skipped: LoadedPairs["skipped"];
  /** Means over the validation pairs, before and of the policy that was kept; null where there are none. */
  validation: {
    before: Readonly<Record<string, number>>;
    after: Readonly<Record<string, number>>;
  } | null;
}

const VALIDATION_LOSS = "validation/losses/preference";

/**
 * Trains on pairs as a recipe's `preference` says. At the end the policy alone is in `policy/`.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when no pairs are named.
 * @throws as `findPairFiles`, `loadPairs` and `runTraining`.
 */
export async function trainOnPairs(session: StageSession): Promise<PreferenceResult> {
  const files = await findPairFiles(session);
  return runTraining(
    {
      stages: [runStage("preference", "preference", { number: 1 })],
      learnsFrom: "pairs",
      length: "preference.epochs",
      open: (start) => openPairs(start, files),
    },
    session,
  );
}

async function openPairs(
  { session, model, openEngine }: TrainingStart,
  files: PairFiles,
): Promise<OpenTraining<PreferenceResult>> {
  const { settings, signal } = session;
  const preference = settings.preference as PreferenceSettings;
  const { patience, validateEvery } = preference;
  const engine = await openEngine();
  const student = await studentOf(engine, settings, model);
  const reader = { engine, student, hints: preference.hints };
  const { pairs, ...facts } = await loadPairs(files.train, reader);
  const validation = files.validation === null ? null : await loadPairs(files.validation, reader);
  const totalSteps = preferenceSteps(preference, pairs.length);
  session.onData?.({ kind: "pairs", train: { ...facts, pairs: pairs.length } }, totalSteps);
  const measure = async (step: number): Promise<Record<string, number> | null> => {
    const isDue = step === totalSteps || step % validateEvery === 0;
    if (validation === null || !isDue) return null;
    const found = await measurePairs(engine, preference, validation.pairs, signal);
    const named = Object.entries(found).map(([name, value]) => [`validation/${name}`, value]);
    const metrics = Object.fromEntries(named) as Record<string, number>;
    session.onValidation?.(step, metrics);
    return metrics;
  };
  return {
    engine,
    totalSteps,
    data: { pairs: facts, validationPairs: validation },
    products: ["policy"],
    policy: { dtype: "F16" },
    needsReference: preferenceLosses.get(preference.loss.name, "preference.loss").needsReference,
    openProgress: () =>
      openValidationProgress({
        metric: VALIDATION_LOSS,
        keepsBest: patience !== null,
        better: "lower",
        patience,
        minImprovement: 0,
        every: settings.checkpoints.every,
      }),
    measure: (_, step) => measure(step),
    train: (_, { firstStep, learningRateFactor, afterStep }) =>
      trainPreference({
        engine,
        settings: preference,
        pairs,
        seed: settings.seed,
        signal,
        firstStep,
        learningRateFactor,
        onStep: async ({ step, metrics, timings, tokens }) => {
          const found = await measure(step);
          const ms = Object.values(timings).reduce((sum, each) => sum + each, 0);
          const timing = { ...timings, tokens, tokensPerSecond: (tokens / ms) * 1000 };
          return afterStep({ step, metrics: { ...metrics, ...found }, timing });
        },
      }),
    finish: ({ run }, { done, kept, progress }) => {
      const { checks } = progress as ValidationProgress;
      const [before, after] = [checks[0], checks.findLast(({ step }) => step === kept)];
      const isMeasured = before !== undefined && after !== undefined;
      return Promise.resolve({
        policy: join(run.path, "policy"),
        checkpoint: run.checkpoint(kept),
        steps: done,
        stoppedEarly: done < totalSteps,
        pairs: pairs.length,
        skipped: facts.skipped,
        validation: isMeasured ? { before: before.metrics, after: after.metrics } : null,
      });
    },
  };
}
