import type { Engine } from "../../src/engine/engine.ts";
import { microBatches } from "../../src/engine/local/batching.ts";
import { modelWeights } from "../../src/engine/local/model-weights.ts";
import { makeTrainer } from "../../src/engine/local/trainer.ts";
import type { DecoderConfig } from "../../src/models/config.ts";
import { openDevice } from "../../src/onnx/device.ts";

/** What a trainer asks of an engine, over the real graphs, whose steps keep the gradients and change no weight. */
export interface GradientEngine {
  engine: Engine;
  /** Of the last step, in the order of the parameters. */
  gradients(): Float32Array;
}

/**
 * @param weights of the policy, and of the roles that are kept.
 * @param microBatchTokens positions run together: small ones split pairs.
 */
export async function gradientEngine(
  config: DecoderConfig,
  weights: Readonly<Record<string, Float32Array>>,
  microBatchTokens = 64,
): Promise<GradientEngine> {
  const device = openDevice("cpu", 1);
  const trainer = await makeTrainer(config, device, { lora: null });
  const models = new Map(
    await Promise.all(
      Object.entries(weights).map(
        async ([role, each]) => [role, await modelWeights(config, each, device)] as const,
      ),
    ),
  );
  let last = new Float32Array();
  const engine: Pick<Engine, "logprobs" | "forwardBackward" | "optimStep"> = {
    logprobs: (rows, role = "policy") =>
      trainer.score(
        models.get(role)!,
        rows,
        microBatches(rows, { maxTokens: microBatchTokens })[0]!,
        "logprobs",
      ),
    forwardBackward: (rows, loss) =>
      trainer.forwardBackward(
        models.get("policy")!,
        rows,
        microBatches(rows, { maxTokens: microBatchTokens })[0]!,
        loss,
      ),
    optimStep: async () => {
      last = Float32Array.from(await trainer.gradients.read());
      return { gradNorm: Math.hypot(...last) };
    },
  };
  return { engine: engine as Engine, gradients: () => last };
}
