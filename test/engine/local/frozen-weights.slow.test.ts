import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { AdamOptions } from "../../../src/autodiff/adamw.ts";
import { random } from "../../../src/base/random.ts";
import type { TrainingRow } from "../../../src/engine/engine.ts";
import {
  openLocalEngine,
  type LocalEngine,
  type LocalEngineOptions,
} from "../../../src/engine/local/local-engine.ts";
import { heldType } from "../../../src/engine/local/frozen-weights.ts";
import { readCheckpoint, writeCheckpoint } from "../../../src/models/checkpoint.ts";
import { targetModules } from "../../../src/models/lora/target-modules.ts";
import { readSafetensors } from "../../../src/models/safetensors.ts";
import type { StoredType } from "../../../src/models/stored-numbers.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { expectClose } from "../../helpers/expect-close.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const whole = await writeTinyModel(join(folder, "F32"));
const lora = { rank: 4, alpha: 8, rslora: false, seed: 1, targets: [...targetModules] };
const loss = { name: "cross-entropy", options: {} };
const adam: AdamOptions = {
  learningRate: 1e-2,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-4,
  weightDecay: 0,
  gradClipNorm: 1,
};

/** The same weights, rounded and stored in another type. */
async function stored(dtype: StoredType): Promise<string> {
  const to = join(folder, dtype);
  await writeCheckpoint(to, await readCheckpoint(whole), { dtype, tokenizerFrom: whole });
  return to;
}

const engines: LocalEngine[] = [];
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

async function open(model: string, options: Partial<LocalEngineOptions>): Promise<LocalEngine> {
  const engine = await openLocalEngine({
    model,
    workers: 1,
    slots: 2,
    microBatchTokens: 64,
    ...options,
  });
  engines.push(engine);
  return engine;
}

const rows: TrainingRow[] = [40, 7, 23].map((length) => {
  const draw = random(length);
  const ids = Array.from({ length: length + 1 }, () => draw.int(tinyConfig.vocabSize));
  const weights = Array.from({ length }, () => 0.01);
  return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
});

/** Trains some steps. @returns losses and norms of gradients, and the adapters that come of it. */
async function trained(
  engine: LocalEngine,
  name: string,
): Promise<{ numbers: number[]; adapters: number[] }> {
  const numbers: number[] = [];
  for (let i = 0; i < 3; i++) {
    const { loss: found } = await engine.forwardBackward(rows, loss);
    const { gradNorm } = await engine.optimStep(adam);
    numbers.push(found, gradNorm);
  }
  const to = join(folder, name);
  await engine.save(to, { optimizer: true });
  const tensors = await readSafetensors(join(to, "adapter_model.safetensors"));
  return { numbers, adapters: [...tensors.values()].flatMap(({ data }) => [...data]) };
}

describe.each([
  ["F16", "float16"],
  ["BF16", "bfloat16"],
] as const)("frozen weights of a checkpoint in %s, held so", (dtype, frozenWeights) => {
  it.each([
    ["with one worker", { workers: 1 }],
    ["with two, layers computed again", { workers: 2, recompute: true }],
  ])("train adapters as float32 copies of them do, %s", async (how, options) => {
    const model = await stored(dtype);
    const copies = await trained(await open(model, { lora, ...options }), `copies ${dtype}${how}`);
    const held = await open(model, { lora, ...options, frozenWeights });
    const found = await trained(held, `held ${dtype}${how}`);
    expectClose(found.numbers, copies.numbers, { atol: 1e-6, rtol: 1e-5 });
    expectClose(found.adapters, copies.adapters, { atol: 2e-5, rtol: 1e-5 });
  });

  it("sample and score as float32 copies of them do, without training too", async () => {
    const model = await stored(dtype);
    const [copies, held] = [
      await open(model, {}),
      await open(model, { frozenWeights: "auto", trains: false }),
    ];
    const request = {
      promptIds: [5, 6, 7],
      maxTokens: 20,
      stopIds: [],
      stopStrings: [],
      sequence: null,
      temperature: 1,
      topP: 1,
      topK: 0,
      seed: 3,
    };
    const [expected, sampled] = [await copies.sample(request), await held.sample(request)];
    expect(sampled.ids).toEqual(expected.ids);
    expectClose(sampled.logprobs, expected.logprobs, { atol: 1e-5, rtol: 0 });
    const [scores, own] = [await copies.logprobs(rows), await held.logprobs(rows)];
    own.forEach((each, i) => {
      expectClose(each, scores[i]!, { atol: 1e-5, rtol: 0 });
    });
  });
});

describe("frozen weights of 16 bits", () => {
  it("are the role base, and adapters saved over them go on to the bit", async () => {
    const model = await stored("BF16");
    const options = { frozenWeights: "auto" } as const;
    const straight = await open(model, { lora, ...options });
    const before = await straight.logprobs(rows);
    await trained(straight, "first");
    expect(await straight.logprobs(rows, "base")).toEqual(before);
    const again = await open(join(folder, "first"), options);
    await trained(straight, "second");
    await trained(again, "second again");
    const file = (name: string): Promise<Buffer> =>
      readFile(join(folder, name, "adapter_model.safetensors"));
    expect(await file("second again")).toEqual(await file("second"));
  });

  it("change nothing where all weights are trained", async () => {
    const [plain, asked] = [await open(whole, {}), await open(whole, { frozenWeights: "float16" })];
    expect(await asked.logprobs(rows)).toEqual(await plain.logprobs(rows));
    expect(asked.lora).toBeNull();
  });

  it("are rounded to nearest where the checkpoint has more bits", async () => {
    const rounded = await open(await stored("F16"), { lora });
    const held = await open(whole, { lora, frozenWeights: "float16" });
    const [expected, found] = [await rounded.logprobs(rows), await held.logprobs(rows)];
    found.forEach((each, i) => {
      expectClose(each, expected[i]!, { atol: 1e-5, rtol: 0 });
    });
  });

  it("refuse a number beyond float16, naming its tensor, and hold it as bfloat16", async () => {
    const { config, weights } = await readCheckpoint(whole);
    weights[17] = -70_000;
    const large = join(folder, "large");
    await writeCheckpoint(large, { config, weights }, { dtype: "F32", tokenizerFrom: whole });
    await expect(open(large, { lora, frozenWeights: "float16" })).rejects.toThrow(
      errorWith("WEIGHT_TOO_LARGE", /"model.embed_tokens.weight" contains -70000/),
    );
    await open(large, { lora, frozenWeights: "bfloat16" });
  });

  it("are held as they are stored with auto, where the device has that type", () => {
    expect(heldType("auto", "cpu", "BF16")).toBe("bfloat16");
    expect(heldType("auto", "webgpu", "BF16")).toBeNull();
    expect(heldType("auto", "webgpu", "F16")).toBe("float16");
    expect(heldType("auto", "cpu", "F32")).toBeNull();
    expect(heldType("auto", "cpu", null)).toBeNull();
    expect(() => heldType("bfloat16", "webgpu", "BF16")).toThrow(
      errorWith("RECIPE_BAD_VALUE", /engine.frozenWeights is "bfloat16"/),
    );
  });
});
