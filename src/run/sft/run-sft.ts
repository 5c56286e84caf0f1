import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { writeJson } from "../../base/files.ts";
import { runStage } from "../folder/run-file.ts";
import type { StageSession } from "../stages/stage.ts";
import { METRICS_FILE, readMetrics } from "../folder/metrics-log.ts";
import { runTraining } from "../train/run-training.ts";
import type { TrainingMethod, TrainingSession, TrainingStart } from "../train/training-method.ts";
import type { OpenSft, SftResult } from "./open-sft.ts";
import { openSamples } from "./sft-from-samples.ts";
import { openStream } from "./sft-from-stream.ts";
import { findSampleFiles } from "./sft-data.ts";
import { hasCurriculum } from "../settings/sft-settings.ts";

/** Written last. */
const RESULT_FILE = "sft.json";

/**
 * Runs a recipe's `sft` on the samples of a file or on a stream. At the end the policy alone is in `policy/`.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no `sft`, or names no samples.
 * @throws {DataError} as `findSampleFiles` and `loadSamples`.
 * @throws as `runTraining`.
 */
export async function trainOnSamples(session: StageSession): Promise<SftResult> {
  const { settings, record } = session;
  const { sft } = settings;
  if (sft === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${record.path}: has no "sft"; name samples to learn from (--data), set sft.curriculum, or use agentrl train.`,
    );
  }
  if (hasCurriculum(sft)) {
    const length = "the steps of sft.curriculum";
    const method = sftMethod(length, (start) => openStream(start, sft));
    return runTraining(method, session);
  }
  const files = await findSampleFiles(sft, record.path);
  const method = sftMethod("sft.epochs", (start) => openSamples(start, sft, files));
  return runTraining(method, session);
}

function sftMethod(
  length: string,
  open: (start: TrainingStart) => Promise<OpenSft>,
): TrainingMethod<SftResult> {
  return {
    stages: [runStage("sft", "sft", { number: 1 })],
    learnsFrom: "samples",
    length,
    trainsFresh: true,
    open: async (start) => {
      const { learned, validation, ...training } = await open(start);
      if (learned !== null) start.session.onData?.(learned, training.totalSteps);
      return {
        ...training,
        products: [RESULT_FILE],
        policy: { dtype: "F16" },
        needsReference: false,
        measuresAfter: true,
        finish: async ({ run }: TrainingSession, end) => {
          const { done, kept } = end;
          const result: SftResult = {
            policy: join(run.path, "policy"),
            checkpoint: run.checkpoint(kept),
            steps: done,
            loss: await lastLoss(run.path),
            stoppedEarly: done < training.totalSteps,
            samples:
              learned === null ? null : { train: learned.train, validation: learned.validation },
            validation: validation(end),
          };
          await writeJson(join(run.path, RESULT_FILE), result);
          return result;
        },
      };
    },
  };
}

/** The loss of the last step that is written; null where there is none. */
async function lastLoss(out: string): Promise<number | null> {
  let loss: number | null = null;
  for await (const { metrics } of readMetrics(join(out, METRICS_FILE)))
    loss = metrics["losses/sft"] ?? loss;
  return loss;
}
