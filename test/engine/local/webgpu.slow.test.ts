/** The path of a GPU, on a software device where there is none: slow, so models and rows are as small as they can be. */
import { expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { microBatches } from "../../../src/engine/local/batching.ts";
import { adaptedWeights, modelWeights } from "../../../src/engine/local/model-weights.ts";
import { trainingGraph } from "../../../src/engine/local/training-graph.ts";
import { makeTrainer } from "../../../src/engine/local/trainer.ts";
import { flatten } from "../../../src/models/checkpoint.ts";
import type { DecoderConfig } from "../../../src/models/config.ts";
import { initialWeights } from "../../../src/models/initialise.ts";
import { initialAdapter, trainedSpecs, type LoraConfig } from "../../../src/models/lora/lora.ts";
import { tensorsOf } from "../../../src/models/parameters.ts";
import { samplingGraph } from "../../../src/models/sampling-graph.ts";
import type { DeviceName } from "../../../src/onnx/device-names.ts";
import { openDevice } from "../../../src/onnx/device.ts";
import { describeOnGpu } from "../../helpers/gpu.ts";
import { madeRows, policyGradient, smallAdapters } from "../../helpers/made-rows.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

function weightsOf(config: DecoderConfig): Float32Array {
  const named = new Map(initialWeights(config, 3).map((each) => [each.name, each]));
  const draw = random("weights");
  // Biases and norms away from where they start, so that a mistake in them would show.
  for (const { shape, data } of named.values()) {
    if (shape.length === 1) data.forEach((each, i) => (data[i] = each + 0.3 * draw.normal()));
  }
  return flatten(config, named, "test");
}

/** Gradients of the made rows, by parameter. */
async function gradientsOn(
  name: DeviceName,
  config: DecoderConfig,
  lora: LoraConfig | null,
  recompute: boolean,
): Promise<ReturnType<typeof tensorsOf>> {
  const device = openDevice(name, 1);
  const base = await modelWeights(config, weightsOf(config), device);
  const adapter = lora && initialAdapter(config, lora, 1);
  const draw = random("adapter");
  adapter?.weights.forEach((_, i) => (adapter.weights[i] = 0.2 * draw.normal()));
  const weights = adapter === null ? base : await adaptedWeights(config, base, adapter, device);
  // Scores of 8 of the 22 targets at once.
  const memory = recompute ? { recompute, scoresBytes: 8 * 4 * config.vocabSize } : {};
  const trainer = await makeTrainer(config, device, { lora, memory });
  const rows = madeRows(config);
  await trainer.forwardBackward(
    weights,
    rows,
    microBatches(rows, { maxTokens: 64 })[0]!,
    policyGradient,
  );
  return tensorsOf(trainedSpecs(config, lora), await trainer.gradients.read());
}

const everyFeature: DecoderConfig = {
  ...tinyConfig,
  layers: 1,
  qkNorm: true,
  tiedEmbeddings: false,
  slidingWindow: { size: 4, fromLayer: 0 },
};

describeOnGpu("gradients on WebGPU", () => {
  it.each<[string, DecoderConfig, LoraConfig | null, boolean]>([
    ["of all parameters", everyFeature, null, false],
    ["of adapters", tinyConfig, smallAdapters, false],
    ["with layers and scores computed twice", { ...tinyConfig, layers: 1 }, null, true],
  ])(
    "%s are those on the processor, each to 1e-4 of its norm",
    async (_, config, lora, recompute) => {
      const theirs = await gradientsOn("webgpu", config, lora, recompute);
      const ours = await gradientsOn("cpu", config, lora, recompute);
      for (const [i, { name, data }] of ours.entries()) {
        const gap = Math.hypot(...data.map((each, k) => each - theirs[i]!.data[k]!));
        expect(Math.hypot(...data), name).toBeGreaterThan(0);
        expect.soft(gap / Math.hypot(...data), name).toBeLessThan(1e-4);
      }
    },
  );
});

describeOnGpu("frozen weights in float16 on WebGPU", () => {
  it("are in graphs that run there whole", async () => {
    const layout = { lora: smallAdapters, transposed: false, frozen: "float16" } as const;
    const device = openDevice("webgpu", 1);
    const shape = { tokens: 32, batch: 1, length: 32, scored: 8 };
    // Few enough bytes that the vocabulary is gone through in stretches.
    const options = { ...layout, recompute: true, scoresBytes: 20_000 };
    const trained = trainingGraph(everyFeature, shape, policyGradient, options);
    const sampled = samplingGraph(
      everyFeature,
      { rows: 2, chunk: 1, capacity: 64, slots: 2 },
      { ...layout, gives: "picks" },
    );
    // The runtime refuses a graph of which it would run a part on the processor.
    for (const { graph, outputs } of [trained, sampled]) {
      await (await device.compile(graph, outputs)).release();
    }
  });
});
