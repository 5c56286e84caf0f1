import { ConfigError } from "../../base/errors.ts";
import type { StoppingRule } from "../../algorithms/early-stop.ts";
import { samplesLoss, type SftSamplesSettings, trainOnSamples } from "../../algorithms/sft.ts";
import { sftBatches } from "../../algorithms/sft-batches.ts";
import type { MetricsLine } from "../../watch/metrics-line.ts";
import { openNamedDataset } from "../assemble.ts";
import { heldOutEvaluation } from "../held-out-evaluation.ts";
import { openValidationProgress, type ValidationProgress } from "../train/progress.ts";
import type { SampleFacts } from "../train/run-events.ts";
import type { TrainingSession, TrainingStart } from "../train/training-method.ts";
import type { OpenSft, SftCheck, SftResult } from "./open-sft.ts";
import { type LoadedSamples, loadSamples, type SampleFiles } from "./sft-data.ts";
import { studentOf } from "./student.ts";

/**
 * Training on the samples of a file, with measurements of held-out samples and questions during it.
 *
 * A step writes its line in `metrics.jsonl` first, then the measurement's line, then a checkpoint if it is the best so far. So after an
 * interruption the newest checkpoint and the lines up to it are all that a resumed run needs.
 */
export async function openSamples(
  { session: { settings }, model, openEngine }: TrainingStart,
  sft: SftSamplesSettings,
  files: SampleFiles,
): Promise<OpenSft> {
  const engine = await openEngine();
  const reader = { engine, student: await studentOf(engine, settings, model), settings: sft };
  const train = await loadSamples(files.train, reader, "training");
  const read =
    files.validation.length === 0
      ? null
      : await loadSamples(files.validation, reader, "validation");
  const validation = read === null || read.samples.length === 0 ? null : read;
  requireMeasure(sft, validation);
  const { everySteps, questions, metric, keep } = sft.validation;
  const held =
    questions > 0
      ? await openNamedDataset(settings.evaluation.dataset, settings.environment)
      : null;
  const sizes = train.samples.map(({ tokens }) => tokens);
  const batches = sftBatches(sizes, { ...sft, seed: settings.seed });
  const { name } = settings.evaluation.dataset;
  const progress = {
    ...stoppingRule(sft),
    metric: `validation/${metric}`,
    keepsBest: keep === "best",
    every: settings.checkpoints.every,
  };
  return {
    engine,
    totalSteps: batches.length,
    held: held ?? undefined,
    data: {
      samples: train,
      validationSamples: validation,
      evaluationDataset: held === null ? null : { file: name, sha256: held.fingerprint },
    },
    learned: { kind: "samples", train: factsOf(train), validation: read && factsOf(read) },
    openProgress: () => openValidationProgress(progress),
    async measure(session, step) {
      const isDue = step % everySteps === 0 || step === batches.length;
      if (!isDue || (validation === null && questions === 0)) return null;
      const metrics: Record<string, number> = {};
      if (validation !== null) {
        const { signal } = session.options;
        metrics["validation/loss"] = await samplesLoss(engine, validation.samples, signal);
      }
      if (questions > 0) metrics["validation/em"] = await heldOutEm(session, questions, step);
      session.options.onValidation?.(step, metrics);
      return metrics;
    },
    async train(session, { firstStep, learningRateFactor, afterStep }) {
      let last = performance.now();
      await trainOnSamples({
        engine,
        settings: sft,
        samples: train.samples,
        batches,
        firstStep,
        learningRateFactor,
        signal: session.options.signal,
        onStep: async ({ step, loss, objective = NaN, gradNorm, tokens }) => {
          const seconds = (performance.now() - last) / 1000;
          const goesOn = await afterStep({
            step,
            metrics: {
              "losses/sft": loss,
              "losses/objective": objective,
              "optimizer/grad_norm": gradNorm,
            },
            timing: { seconds, tokensPerSecond: tokens / seconds },
          });
          last = performance.now();
          return goesOn;
        },
      });
    },
    validation: ({ progress: judged, kept }) =>
      summaryOf((judged as ValidationProgress).checks.map(checkOf), kept),
  };
}

/** Exact match on the first held-out questions, which is also written to the run folder. */
async function heldOutEm(
  { settings, options, run, engine, held, model }: TrainingSession,
  limit: number,
  step: number,
): Promise<number> {
  const subject = { settings, engine, held: await held(), model };
  const { summary, rows } = await heldOutEvaluation(subject, { limit, signal: options.signal });
  await run.evaluation(`step-${step}`, summary, rows);
  return summary.metrics.em;
}

function checkOf({ step, metrics }: MetricsLine): SftCheck {
  const { "validation/loss": loss = null, "validation/em": em = null } = metrics;
  return { step, loss, em };
}

function stoppingRule({ validation }: SftSamplesSettings): StoppingRule {
  const { metric, patience, minImprovement } = validation;
  return { better: metric === "em" ? "higher" : "lower", patience, minImprovement };
}

/** The first measurement, the last, and that of the policy that was kept. */
function summaryOf(checks: readonly SftCheck[], kept: number): SftResult["validation"] {
  const [before, last] = [checks[0], checks.at(-1)];
  if (before === undefined || last === undefined) return null;
  return { before, last, kept: checks.findLast(({ step }) => step === kept) ?? last };
}

function factsOf({ samples, ...facts }: LoadedSamples): SampleFacts {
  return { ...facts, samples: samples.length };
}

/** @throws {ConfigError} RECIPE_BAD_VALUE when training stops by a validation loss and there is no validation data. */
function requireMeasure(
  { validation: { metric, patience } }: SftSamplesSettings,
  validation: LoadedSamples | null,
): void {
  if (metric === "em" || patience === null || validation !== null) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `sft.validation.patience is ${patience}, and no samples are held out whose loss could be measured. Name them by sft.validationData, or set validation.metric to em and validation.questions.`,
  );
}
