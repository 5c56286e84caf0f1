/**
 * The local engine on a GPU, on a software device where there is none: slow, so models and rows are as small as they can be.
 */
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { AdamOptions } from "../../../src/autodiff/adamw.ts";
import { criticTrunks, type SampleRequest } from "../../../src/engine/engine.ts";
import { openLocalEngine, type LocalEngine } from "../../../src/engine/local/local-engine.ts";
import { readCheckpoint, writeCheckpoint } from "../../../src/models/checkpoint.ts";
import { parameterSpecs } from "../../../src/models/parameters.ts";
import type { DeviceName } from "../../../src/onnx/device-names.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { expectClose } from "../../helpers/expect-close.ts";
import { describeOnGpu, gpuHasFloat16 } from "../../helpers/gpu.ts";
import { madeRows, policyGradient, sampledRow, smallAdapters } from "../../helpers/made-rows.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const engines: LocalEngine[] = [];
// Left open: closing a WebGPU worker inside a test runner now and then damages the heap of its process.
afterAll(() =>
  Promise.all(engines.filter(({ device }) => device === "cpu").map((engine) => engine.close())),
);

const adam: AdamOptions = {
  // An epsilon above rounding: else gradients that are 0 but for it would move weights as far as others do.
  learningRate: 1e-2,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-3,
  weightDecay: 0.01,
  gradClipNorm: 1,
};

/** An engine with weights frozen in float16. */
async function openFrozen(device: DeviceName): Promise<LocalEngine> {
  const from = await writeTinyModel(join(folder, "frozen"));
  const model = join(folder, "frozen-f16");
  const options = { dtype: "F16", tokenizerFrom: from } as const;
  await writeCheckpoint(model, await readCheckpoint(from), options);
  const engine = await openLocalEngine({
    model,
    device,
    workers: 1,
    slots: 2,
    lora: { ...smallAdapters, seed: 1 },
    frozenWeights: "float16",
  });
  engines.push(engine);
  return engine;
}

describeOnGpu("frozen weights in float16 on a GPU", () => {
  it("train as on the processor where the card computes with float16", async ({ skip }) => {
    if (!(await gpuHasFloat16())) skip("this GPU does not compute with float16");
    const rows = madeRows(tinyConfig);
    const [there, here] = [await openFrozen("webgpu"), await openFrozen("cpu")];
    const [found, expected] = [await there.logprobs(rows), await here.logprobs(rows)];
    found.forEach((each, i) => {
      expectClose(each, expected[i]!, { atol: 1e-4, rtol: 0 });
    });
  });

  it("are refused where the card does not compute with float16", async ({ skip }) => {
    if (await gpuHasFloat16()) skip("this GPU computes with float16");
    await expect(openFrozen("webgpu")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /webgpu device does not support float16/),
    );
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
    promptIds: prompt,
    maxTokens: 8,
    stopIds: [],
    stopStrings: [],
    temperature: 1,
    topP: 1,
    topK: 0,
    seed: 3,
    sequence: null,
    ...options,
  };
}

/** Samples a group from one prompt, learns from it, steps. The completions cross the cache's first size, 64. */
async function grpoStep(
  engine: LocalEngine,
): Promise<{ ids: number[][]; mismatch: number; gradNorm: number }> {
  const requests = [1, 2].map((seed) => request({ seed }));
  const sampled = await Promise.all(requests.map((each) => engine.sample(each)));
  const rows = sampled.map((each, i) => sampledRow(prompt, each, i === 0 ? 1 : -1));
  const { logprobs } = await engine.forwardBackward(rows, policyGradient);
  const gaps = rows.flatMap(({ fields }, r) =>
    fields["oldLogprobs"]!.flatMap((each, t) =>
      fields.weights[t] === 0 ? [] : [Math.abs(each - logprobs[r]![t]!)],
    ),
  );
  const { gradNorm } = await engine.optimStep(adam);
  return { ids: sampled.map(({ ids }) => ids), mismatch: Math.max(...gaps), gradNorm };
}

describeOnGpu("sampling on WebGPU", () => {
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

describeOnGpu("a GRPO step on WebGPU", () => {
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

describeOnGpu("a critic on WebGPU", () => {
  it.each(criticTrunks)("values and learns as on the processor, %s", async (critic) => {
    const model = await writeTinyModel(join(folder, `critic-${critic}`));
    const rows = madeRows(tinyConfig).map((row) => {
      const learned = row.fields.weights.map((weight) => (weight === 0 ? 0 : 1 / 20));
      const fields = { returns: learned.map((_, i) => i % 3), oldValues: learned.map(() => 0) };
      const own = { ...row.fields, ...fields, valueWeights: learned };
      return { ...row, fields: critic === "own" ? { ...own, weights: learned } : own };
    });
    const value = { name: "value", options: {} };
    const joined = { ...policyGradient, joined: { loss: value, weights: "valueWeights" } };
    const run = async (device: DeviceName): Promise<number[]> => {
      const given = { model, device, workers: 1, slots: 1, microBatchTokens: 192 };
      const engine = await openLocalEngine({ ...given, critic });
      engines.push(engine);
      // Twice: the first step moves the head alone, which begins at 0.
      for (const _ of [1, 2]) {
        if (critic === "own") await engine.forwardBackward(rows, value, "critic");
        else await engine.forwardBackward(rows, joined);
        await engine.optimStep(adam, critic === "own" ? "critic" : "policy");
      }
      return (await engine.values(rows)).flatMap((each) => [...each].filter(Number.isFinite));
    };
    const [theirs, ours] = [await run("webgpu"), await run("cpu")];
    expectClose(theirs, ours, { atol: 1e-3, rtol: 0 });
    expect(Math.max(...ours.map(Math.abs))).toBeGreaterThan(0.01);
  });
});
