import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { readJson } from "../../../src/base/files.ts";
import type { AdamOptions } from "../../../src/autodiff/adamw.ts";
import type { TrainingRow } from "../../../src/engine/engine.ts";
import type { FreshLora } from "../../../src/engine/local/engine-files.ts";
import { openLocalEngine, type LocalEngine } from "../../../src/engine/local/local-engine.ts";
import { loraSpecs } from "../../../src/models/lora/lora.ts";
import { readSafetensors } from "../../../src/models/safetensors.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { expectClose } from "../../helpers/expect-close.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const model = await writeTinyModel(join(folder, "model"));
const lora: FreshLora = {
  rank: 4,
  alpha: 8,
  rslora: false,
  seed: 1,
  targets: ["q_proj", "v_proj", "down_proj"],
};
const crossEntropy = { name: "cross-entropy", options: {} };
const adam: AdamOptions = {
  learningRate: 1e-2,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-4,
  weightDecay: 0.01,
  gradClipNorm: 1,
};

const engines: LocalEngine[] = [];
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

async function open(from: string, own?: FreshLora, workers = 1): Promise<LocalEngine> {
  const options = { model: from, workers, slots: 2, microBatchTokens: 64 };
  const engine = await openLocalEngine({ ...options, ...(own === undefined ? {} : { lora: own }) });
  engines.push(engine);
  return engine;
}

function batch(seed: number): TrainingRow[] {
  const draw = random(seed);
  return [40, 7, 23].map((length) => {
    const ids = Array.from({ length: length + 1 }, () => draw.int(tinyConfig.vocabSize));
    const weights = Array.from({ length }, () => 0.01);
    return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
  });
}

async function step(engine: LocalEngine, seed: number): Promise<number> {
  const { loss } = await engine.forwardBackward(batch(seed), crossEntropy);
  await engine.optimStep(adam);
  return loss;
}

async function files(engine: LocalEngine, name: string): Promise<Buffer[]> {
  const to = join(folder, name);
  await engine.save(to, { optimizer: true });
  const names = ["adapter_model.safetensors", "optimizer.safetensors", "training-state.json"];
  return Promise.all(names.map((file) => readFile(join(to, file))));
}

describe("an engine with adapters", () => {
  it("starts as the model without them, trains them alone, and keeps the base as a role", async () => {
    const [plain, engine] = [await open(model), await open(model, lora, 2)];
    const rows = batch(1);
    const before = await plain.logprobs(rows);
    expect(await engine.logprobs(rows)).toEqual(before);
    await engine.snapshot("reference");
    const losses: number[] = [];
    for (let i = 0; i < 6; i++) losses.push(await step(engine, 1));
    expect(losses.at(-1)).toBeLessThan(0.95 * losses[0]!);
    expect(await engine.logprobs(rows)).not.toEqual(before);
    expect(await engine.logprobs(rows, "base")).toEqual(before);
    expect(await engine.logprobs(rows, "reference")).toEqual(before);
  });

  it("samples with the log-probabilities that it trains on", async () => {
    const engine = await open(model, lora);
    for (let i = 0; i < 6; i++) await step(engine, 1);
    const promptIds = batch(2)[0]!.inputs.slice(0, 10);
    const { ids, logprobs } = await engine.sample({
      promptIds,
      maxTokens: 30,
      stopIds: [],
      stopStrings: [],
      sequence: null,
      temperature: 1,
      topP: 1,
      topK: 0,
      seed: 3,
    });
    const all = [...promptIds, ...ids];
    const weights = all.slice(1).map((_, i) => (i < promptIds.length - 1 ? 0 : 1));
    const row = { inputs: all.slice(0, -1), targets: all.slice(1), fields: { weights } };
    const [trained] = await engine.logprobs([row]);
    const written = trained!.subarray(promptIds.length - 1);
    expectClose(Float32Array.from(logprobs), written, { atol: 2e-5, rtol: 0 });
  });

  it("saves adapters, moments of them alone, and where their base is", async () => {
    const engine = await open(model, lora);
    await step(engine, 1);
    await files(engine, "saved");
    const at = join(folder, "saved");
    expect(existsSync(join(at, "model.safetensors"))).toBe(false);
    const written = await readJson(join(at, "adapter_config.json"));
    expect(written).toMatchObject({ base_model_name_or_path: model, r: 4, lora_alpha: 8 });
    const moments = await readSafetensors(join(at, "optimizer.safetensors"));
    const names = loraSpecs(tinyConfig, lora).map(({ name }) => name);
    const expected = ["mean", "square"].flatMap((kind) => names.map((name) => `${kind}.${name}`));
    expect([...moments.keys()]).toEqual(expected);
  });

  it("goes on to the bit from what it saved, opened or loaded", async () => {
    const straight = await open(model, lora, 2);
    for (const seed of [1, 2]) await step(straight, seed);
    await straight.save(join(folder, "half"), { optimizer: true });
    for (const seed of [3, 4]) await step(straight, seed);
    const expected = await files(straight, "straight");
    const opened = await open(join(folder, "half"), undefined, 2);
    expect(opened.policyVersion).toBe(2);
    for (const seed of [3, 4]) await step(opened, seed);
    expect(await files(opened, "opened")).toEqual(expected);
    const loaded = await open(model, { ...lora, seed: 9 }, 2);
    await loaded.load(join(folder, "half"));
    for (const seed of [3, 4]) await step(loaded, seed);
    expect(await files(loaded, "loaded")).toEqual(expected);
  });

  it("saves merged what opens as a whole model with the same log-probabilities", async () => {
    // Not spread: with weights three times as wide, their last bits alone move a log-probability by up to 4e-4.
    const mild = await writeTinyModel(join(folder, "mild"), tinyConfig, 1);
    const engine = await open(mild, lora);
    for (let i = 0; i < 4; i++) await step(engine, 1);
    const at = join(folder, "merged");
    await engine.save(at, { merged: true });
    const whole = await open(at);
    expect(whole.lora).toBeNull();
    const [rows, other] = [await whole.logprobs(batch(2)), await engine.logprobs(batch(2))];
    rows.forEach((row, i) => {
      expectClose(row, other[i]!, { atol: 1e-4, rtol: 0 });
    });
    expect(whole.tokenizer.encode("one two")).toEqual(engine.tokenizer.encode("one two"));
  });

  it("refuses adapters that are others than those asked for", async () => {
    const engine = await open(model, lora);
    const at = join(folder, "rank-4");
    await engine.save(at);
    await expect(openLocalEngine({ model: at, lora: { ...lora, rank: 8 } })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /policy\.lora is \{"rank":8.* \{"rank":4/),
    );
    const other = await open(model, { ...lora, alpha: 4 });
    await expect(other.load(at)).rejects.toThrow(
      errorWith("CHECKPOINT_MISFIT", /"alpha":8.* this run trains/),
    );
  });
});
