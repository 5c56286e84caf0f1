import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { SampleResult, TrainingRow } from "../../../src/engine/engine.ts";
import { cachedModel } from "../../../src/engine/local/cached-model.ts";
import { openLocalEngine, type LocalEngine } from "../../../src/engine/local/local-engine.ts";
import { modelWeights } from "../../../src/engine/local/model-weights.ts";
import { exactByteType } from "../../../src/engine/local/sampling-constants.ts";
import { requireSampling } from "../../../src/engine/local/storage-dtypes.ts";
import type { ByteType } from "../../../src/autodiff/ops/quantised.ts";
import { flatten } from "../../../src/models/checkpoint.ts";
import type { DecoderConfig } from "../../../src/models/config.ts";
import { initialWeights } from "../../../src/models/initialise.ts";
import { targetModules } from "../../../src/models/lora/target-modules.ts";
import { openDevice } from "../../../src/onnx/device.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const lora = { rank: 4, alpha: 8, rslora: false, seed: 1, targets: [...targetModules] };
const loss = { name: "cross-entropy", options: {} };
const adam = {
  learningRate: 3e-2,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-4,
  weightDecay: 0,
  gradClipNorm: 1,
};

const engines: LocalEngine[] = [];
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

async function open(config: DecoderConfig, name: string, adapters: boolean): Promise<LocalEngine> {
  const engine = await openLocalEngine({
    model: await writeTinyModel(join(folder, name), config, 1),
    workers: 1,
    threads: 1,
    slots: 8,
    samplingWeights: "int8",
    lora: adapters ? lora : undefined,
  });
  engines.push(engine);
  return engine;
}

const draw = random("prompts");
const prompts = Array.from({ length: 6 }, () =>
  Array.from({ length: 20 }, () => draw.int(tinyConfig.vocabSize)),
);

function sampled(engine: LocalEngine, given = prompts): Promise<SampleResult[]> {
  return Promise.all(
    given.map((promptIds) =>
      engine.sample({
        promptIds,
        maxTokens: 30,
        stopIds: [],
        stopStrings: [],
        sequence: null,
        temperature: 1,
        topP: 1,
        topK: 0,
        seed: promptIds[0]!,
      }),
    ),
  );
}

/** Mean and largest difference of drawn tokens' log-probabilities from those that the trainer computes, nats. */
async function apart(engine: LocalEngine): Promise<{ mean: number; largest: number }> {
  const results = await sampled(engine);
  const rows = results.map(({ ids }, i): TrainingRow => {
    const all = [...prompts[i]!, ...ids];
    const weights = all.slice(1).map((_, at) => (at < prompts[i]!.length - 1 ? 0 : 1));
    return { inputs: all.slice(0, -1), targets: all.slice(1), fields: { weights } };
  });
  const trained = await engine.logprobs(rows);
  const differences = results.flatMap(({ logprobs }, i) =>
    logprobs.map((each, at) => Math.abs(each - trained[i]![prompts[i]!.length - 1 + at]!)),
  );
  const mean = differences.reduce((sum, each) => sum + each, 0) / differences.length;
  return { mean, largest: Math.max(...differences) };
}

async function train(engine: LocalEngine): Promise<void> {
  const [inputs, targets] = [prompts[0]!.slice(0, -1), prompts[0]!.slice(1)];
  const weights = targets.map(() => 1);
  await engine.forwardBackward([{ inputs, targets, fields: { weights } }], loss);
  await engine.optimStep(adam);
}

const untied: DecoderConfig = {
  ...tinyConfig,
  architecture: "qwen3",
  tiedEmbeddings: false,
  qkvBias: false,
  qkNorm: true,
};
// Sizes with an odd part, which Hartley's matrix mixes.
const odd = { ...tinyConfig, hiddenSize: 24, headDim: 6, intermediateSize: 36 };

describe.each([
  ["all weights", false],
  ["adapters", true],
] as const)("sampling in 8 bits, %s trained", (_, adapters) => {
  it.each([
    ["tied", tinyConfig],
    ["untied, heads normalised", untied],
    ["odd", odd],
  ] as [string, DecoderConfig][])("stays near the trainer: %s", async (name, config) => {
    const engine = await open(config, `${name}-${adapters}`, adapters);
    const before = await apart(engine);
    // 8 bits are felt: a sampler that kept float32 would be some 1e-6 apart.
    expect(before.mean).toBeGreaterThan(1e-4);
    expect(before.mean).toBeLessThan(0.03);
    expect(before.largest).toBeLessThan(0.2);
    const old = await sampled(engine);
    for (let step = 0; step < 5; step++) await train(engine);
    // What was mixed and quantised before the update would be far from the new policy.
    const after = await apart(engine);
    expect(after.mean).toBeLessThan(0.04);
    expect((await sampled(engine)).map(({ logprobs }) => logprobs)).not.toEqual(
      old.map(({ logprobs }) => logprobs),
    );
  });
});

it("draws the same for a prompt alone and among others", async () => {
  const engine = await open(tinyConfig, "alone", true);
  const all = await sampled(engine);
  expect(await sampled(engine, [prompts[3]!])).toEqual([all[3]]);
});

it("samples the same with both types of bytes, where the runtime multiplies both exactly", async (context) => {
  const device = openDevice("cpu", 1);
  if ((await exactByteType(device)) === "uint8") {
    context.skip("this processor's kernels overflow for int8");
  }
  const named = initialWeights(tinyConfig, 7);
  const numbers = flatten(tinyConfig, new Map(named.map((each) => [each.name, each])), "test");
  const weights = await modelWeights(tinyConfig, numbers, device);
  const drawn = async (type: ByteType) => {
    const model = await cachedModel(tinyConfig, weights, { device, slots: 8, weights: { type } });
    await model.fill(0, prompts[0]!, 0);
    const pick = { temperature: 1, topP: 1, topK: 0 };
    const newest = { slot: 0, id: 3, position: prompts[0]!.length, pick, stream: random("draw") };
    return model.step([newest]);
  };
  expect(await drawn("uint8")).toEqual(await drawn("int8"));
});

it("samples with two workers what one samples", async () => {
  const model = await writeTinyModel(join(folder, "workers"), tinyConfig, 1);
  const results = [];
  for (const workers of [1, 2]) {
    const options = { workers, threads: 1, slots: 8, samplingWeights: "int8" } as const;
    const engine = await openLocalEngine({ model, lora, ...options });
    engines.push(engine);
    await train(engine);
    expect(engine.machine["samplingWeights"]).toBe("int8");
    results.push((await sampled(engine)).map(({ ids }) => ids));
  }
  expect(results[1]).toEqual(results[0]);
});

it("holds frozen matrices of 16 bits, too", async () => {
  const model = await writeTinyModel(join(folder, "halves"), tinyConfig, 1);
  const options = { workers: 1, slots: 8, lora, frozenWeights: "bfloat16" } as const;
  const engine = await openLocalEngine({ model, ...options, samplingWeights: "int8" });
  engines.push(engine);
  expect((await apart(engine)).mean).toBeLessThan(0.03);
});

it("leaves a critic with its own decoder in float32", async () => {
  const engine = await openLocalEngine({
    model: await writeTinyModel(join(folder, "critic"), untied, 1),
    workers: 1,
    slots: 8,
    samplingWeights: "int8",
    critic: "own",
  });
  engines.push(engine);
  expect((await sampled(engine)).map(({ ids }) => ids.length)).toEqual(prompts.map(() => 30));
  const [inputs, targets] = [prompts[0]!.slice(0, -1), prompts[0]!.slice(1)];
  const weights = targets.map(() => 1);
  const [values] = await engine.values([{ inputs, targets, fields: { weights } }]);
  expect([...values!]).toEqual(targets.map(() => 0));
});

it("is refused on a device without such products", () => {
  expect(() => {
    requireSampling("float32", "webgpu");
  }).not.toThrow();
  expect(() => {
    requireSampling("int8", "cpu");
  }).not.toThrow();
  expect(() => {
    requireSampling("int8", "webgpu");
  }).toThrow(
    errorWith("RECIPE_BAD_VALUE", /engine.samplingWeights is "int8", but the device is webgpu/),
  );
});
