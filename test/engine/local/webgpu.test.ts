/** The path of a GPU, on a software device where there is none: slow, so models and rows are as small as they can be. */
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { AdamOptions } from "../../../src/autodiff/adamw.ts";
import { random } from "../../../src/base/random.ts";
import type { SampleRequest, TrainingRow } from "../../../src/engine/engine.ts";
import { microBatches } from "../../../src/engine/local/batching.ts";
import { openLocalEngine, type LocalEngine } from "../../../src/engine/local/local-engine.ts";
import { adaptedWeights, modelWeights } from "../../../src/engine/local/model-weights.ts";
import { trainingGraph } from "../../../src/engine/local/training-graph.ts";
import { makeTrainer } from "../../../src/engine/local/trainer.ts";
import type { LossSpec } from "../../../src/losses/loss.ts";
import { flatten, readCheckpoint, writeCheckpoint } from "../../../src/models/checkpoint.ts";
import type { DecoderConfig } from "../../../src/models/config.ts";
import { initialWeights } from "../../../src/models/initialise.ts";
import { initialAdapter, trainedSpecs, type LoraConfig } from "../../../src/models/lora/lora.ts";
import { parameterSpecs, tensorsOf } from "../../../src/models/parameters.ts";
import { samplingGraph } from "../../../src/models/sampling-graph.ts";
import type { DeviceName } from "../../../src/onnx/device-names.ts";
import { openDevice } from "../../../src/onnx/device.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { expectClose } from "../../helpers/expect-close.ts";
import { gpuIsThere } from "../../helpers/gpu.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const gpu = await gpuIsThere();
const folder = temporaryFolder();
const engines: LocalEngine[] = [];
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

const policyGradient: LossSpec = {
  name: "policy-gradient",
  options: { klCoef: 0.1, entropyCoef: 0.01 },
};
const adam: AdamOptions = {
  // An epsilon above rounding: else gradients that are 0 but for it would move weights as far as others do.
  ...{ learningRate: 1e-2, beta1: 0.9, beta2: 0.99, epsilon: 1e-3 },
  ...{ weightDecay: 0.01, gradClipNorm: 1 },
};

/** A sampled completion as a row to learn from: only what was sampled has a weight. */
function rowOf(
  promptIds: readonly number[],
  { ids, logprobs }: { ids: readonly number[]; logprobs: readonly number[] },
  advantage: number,
): TrainingRow {
  const all = [...promptIds, ...ids];
  const own = (values: readonly number[]): number[] => [
    ...promptIds.slice(1).map(() => 0),
    ...values,
  ];
  return {
    inputs: all.slice(0, -1),
    targets: all.slice(1),
    fields: {
      weights: own(ids.map(() => 1 / 20)),
      advantages: own(ids.map(() => advantage)),
      oldLogprobs: own(logprobs),
      refLogprobs: own(logprobs.map((each) => each - 0.1)),
    },
  };
}

function madeRows(config: DecoderConfig): TrainingRow[] {
  const draw = random("rows");
  const ids = (count: number): number[] =>
    Array.from({ length: count }, () => draw.int(config.vocabSize));
  return [1, -1].map((advantage) => {
    const logprobs = Array.from({ length: 11 }, () => -5 + draw.next());
    return rowOf(ids(9), { ids: ids(11), logprobs }, advantage);
  });
}

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
  await trainer.forwardBackward(weights, rows, microBatches(rows, 64), policyGradient);
  return tensorsOf(trainedSpecs(config, lora), await trainer.gradients.read());
}

const everyFeature: DecoderConfig = {
  ...{ ...tinyConfig, layers: 1, qkNorm: true, tiedEmbeddings: false },
  slidingWindow: { size: 4, fromLayer: 0 },
};
const adapters: LoraConfig = {
  ...{ rank: 2, alpha: 4, rslora: false, targets: ["q_proj", "down_proj"] },
};

describe.skipIf(!gpu)("gradients on WebGPU", () => {
  it.each<[string, DecoderConfig, LoraConfig | null, boolean]>([
    ["of all parameters", everyFeature, null, false],
    ["of adapters", tinyConfig, adapters, false],
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

describe.skipIf(!gpu)("frozen weights in float16 on WebGPU", () => {
  it("are in graphs that run there whole", async () => {
    const layout = { lora: adapters, transposed: false, frozen: "float16" } as const;
    const device = openDevice("webgpu", 1);
    const shape = { rows: [], batch: 1, length: 32, scored: 8 };
    // Few enough bytes that the vocabulary is gone through in stretches.
    const options = { ...layout, recompute: true, scoresBytes: 20_000 };
    const trained = trainingGraph(everyFeature, shape, policyGradient, options);
    const sampled = samplingGraph(
      everyFeature,
      { rows: 2, chunk: 1, capacity: 64 },
      { ...layout, gives: "picks", slots: 2 },
    );
    // The runtime refuses a graph of which it would run a part on the processor.
    for (const { graph, outputs } of [trained, sampled]) {
      await (await device.compile(graph, outputs)).release();
    }
  });

  it("train as on the processor where the card computes with float16, and are refused where not", async () => {
    const from = await writeTinyModel(join(folder, "frozen"));
    const model = join(folder, "frozen-f16");
    const options = { dtype: "F16", tokenizerFrom: from } as const;
    await writeCheckpoint(model, await readCheckpoint(from), options);
    const has = await openDevice("webgpu", 1)
      .zeros([1], "float16")
      .then(() => true)
      .catch(() => false);
    const over = (device: DeviceName): Promise<LocalEngine> =>
      openLocalEngine({
        ...{ model, device, workers: 1, slots: 2, lora: { ...adapters, seed: 1 } },
        frozenWeights: "float16",
      });
    if (!has) {
      const refused = errorWith(
        "RECIPE_BAD_VALUE",
        /held as float16, with which the webgpu device/,
      );
      await expect(over("webgpu")).rejects.toThrow(refused);
      return;
    }
    const rows = madeRows(tinyConfig);
    const [there, here] = [await over("webgpu"), await over("cpu")];
    engines.push(there, here);
    const [found, expected] = [await there.logprobs(rows), await here.logprobs(rows)];
    found.forEach((each, i) => {
      expectClose(each, expected[i]!, { atol: 1e-4, rtol: 0 });
    });
  });
});

async function open(device: DeviceName, model: string): Promise<LocalEngine> {
  const engine = await openLocalEngine({
    model,
    device,
    workers: 1,
    slots: 3,
    microBatchTokens: 192,
  });
  engines.push(engine);
  return engine;
}

const prompt = Array.from({ length: 60 }, (_, i) => (7 * i) % tinyConfig.vocabSize);

function request(options: Partial<SampleRequest> = {}): SampleRequest {
  return {
    ...{ promptIds: prompt, maxTokens: 8, stopIds: [], stopStrings: [] },
    ...{ temperature: 1, topP: 1, topK: 0, seed: 3, sequence: null },
    ...options,
  };
}

/** Samples a group from one prompt, learns from it, steps. The completions cross the cache's first size, 64. */
async function grpoStep(
  engine: LocalEngine,
): Promise<{ ids: number[][]; mismatch: number; gradNorm: number }> {
  const requests = [1, 2].map((seed) => request({ seed }));
  const sampled = await Promise.all(requests.map((each) => engine.sample(each)));
  const rows = sampled.map((each, i) => rowOf(prompt, each, i === 0 ? 1 : -1));
  const { logprobs } = await engine.forwardBackward(rows, policyGradient);
  const gaps = rows.flatMap(({ fields }, r) =>
    fields["oldLogprobs"]!.flatMap((each, t) =>
      fields.weights[t] === 0 ? [] : [Math.abs(each - logprobs[r]![t]!)],
    ),
  );
  const { gradNorm } = await engine.optimStep(adam);
  return { ids: sampled.map(({ ids }) => ids), mismatch: Math.max(...gaps), gradNorm };
}

describe.skipIf(!gpu)("sampling on WebGPU", () => {
  it("gives what the processor gives, greedy and shaped, and keeps what an idle sequence has", async () => {
    const model = await writeTinyModel(join(folder, "sampled"));
    const run = async (device: DeviceName): Promise<number[][]> => {
      const engine = await open(device, model);
      const first = await engine.sample(request({ sequence: "turns", temperature: 0.7 }));
      // While "turns" waits for its environment, others run.
      const others = [{ temperature: 0 }, { topK: 5, seed: 4 }, { logitBias: { 7: 100 } }];
      const between = await Promise.all(others.map((each) => engine.sample(request(each))));
      const promptIds = [...prompt, ...first.ids, 1, 2, 3];
      const second = await engine.sample(request({ sequence: "turns", promptIds }));
      return [first, ...between, second].map(({ ids }) => ids);
    };
    const theirs = await run("webgpu");
    expect(theirs).toEqual(await run("cpu"));
    expect(theirs[3]).toEqual(Array.from({ length: 8 }, () => 7));
  });
});

describe.skipIf(!gpu)("a GRPO step on WebGPU", () => {
  it("is the processor's, and nothing as large as a matrix crosses in it", async () => {
    const model = await writeTinyModel(join(folder, "model"));
    const [there, here] = [await open("webgpu", model), await open("cpu", model)];
    const opening = await there.traffic();
    // Twice: the second step reads what the first left in the device's memory.
    for (const _ of [1, 2]) {
      const [theirs, ours] = [await grpoStep(there), await grpoStep(here)];
      expect(theirs.ids).toEqual(ours.ids);
      expect(theirs.mismatch).toBeLessThan(1e-4);
      expect(theirs.gradNorm / ours.gradNorm).toBeCloseTo(1, 3);
    }
    const steps = await there.traffic();
    const specs = parameterSpecs(tinyConfig).filter(({ shape }) => shape.length === 2);
    const sizes = specs.map(({ shape }) => shape[0]! * shape[1]!);
    const all = 4 * sizes.reduce((sum, size) => sum + size);
    // The largest tensor was the embedding, when the engine was opened; since then little crossed, and not one parameter's worth.
    expect(opening.largest).toBe(Math.max(...sizes));
    expect(steps.fromDevice).toBeLessThan(4 * Math.min(...sizes));
    expect(steps.toDevice).toBeLessThan(all);
    expect(steps.largest).toBeLessThan(Math.min(...sizes));
    for (const engine of [there, here]) await engine.save(join(folder, engine.device));
    const folders = [model, join(folder, "webgpu"), join(folder, "cpu")];
    const [start, theirs, ours] = await Promise.all(
      folders.map(async (each) => (await readCheckpoint(each)).weights),
    );
    const apart = (a: Float32Array, b: Float32Array): number =>
      Math.hypot(...a.map((each, i) => each - b[i]!));
    expect(apart(theirs!, ours!) / apart(ours!, start!)).toBeLessThan(0.005);
  });
});
