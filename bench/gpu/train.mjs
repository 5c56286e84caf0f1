// Training as a user has it: whole steps of the engine.
import { openLocalEngine } from "../../dist/engine/local/local-engine.js";
import { targetModules } from "../../dist/models/lora/target-modules.js";
import { adam, policyGradient, policyRows, seconds, timedFor } from "./rows.mjs";

/**
 * A step is forward and backward over all rows and AdamW. The optimiser's last run is not waited for, so a period is timed that ends
 * with what reads results back; its share is what the period is longer than forward and backward alone.
 */
export async function train(job, report) {
  const { device, model, work, microBatchRows, recompute, mode } = job;
  const { rows: count, length } = work.training;
  const lora = { ...work.lora, rslora: false, targets: targetModules, seed: 1 };
  const [engine, openSeconds] = await seconds(() =>
    openLocalEngine({
      ...{ model, device, recompute, slots: 1, workers: 1 },
      microBatchTokens: microBatchRows * length,
      ...(mode === "lora" ? { lora } : {}),
    }),
  );
  const { vocabSize } = engine.config;
  let rows = policyRows(vocabSize, work.training);
  const learn = async () => {
    const { loss, logprobs } = await engine.forwardBackward(rows, policyGradient);
    if (!Number.isFinite(loss)) throw new Error(`the loss is ${loss}`);
    return logprobs;
  };
  const [logprobs, firstRun] = await seconds(learn);
  rows = policyRows(vocabSize, work.training, logprobs);
  const [, firstStep] = await seconds(async () => {
    await engine.optimStep(adam);
    await learn();
  });
  const alone = await timedFor(job.seconds / 2, learn);
  await engine.traffic();
  const step = await timedFor(job.seconds / 2, async () => {
    await engine.optimStep(adam);
    await learn();
  });
  const { toDevice, fromDevice, largest } = await engine.traffic();
  report({
    ...{ mode, recompute, device, microBatchRows, rows: count, length, scored: length / 2 },
    tokensPerSecond: (count * length) / step.median,
    stepSeconds: step.median,
    forwardBackwardSeconds: alone.median,
    optimiserSeconds: Math.max(0, step.median - alone.median),
    steps: step.runs,
    openSeconds,
    // What the first runs took longer than later ones: building graphs and sessions, compiling kernels.
    buildSeconds: Math.max(0, firstRun + firstStep - alone.median - step.median),
    crossing:
      device === "webgpu"
        ? { toDevice: toDevice / step.runs, fromDevice: fromDevice / step.runs, largest }
        : null,
  });
  await engine.close();
}
