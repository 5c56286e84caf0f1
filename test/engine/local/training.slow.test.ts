import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { AdamOptions } from "../../../src/autodiff/adamw.ts";
import type { TrainingRow } from "../../../src/engine/engine.ts";
import { openLocalEngine, type LocalEngine } from "../../../src/engine/local/local-engine.ts";
import { readCheckpoint } from "../../../src/models/checkpoint.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const model = await writeTinyModel(join(folder, "model"));
const engines: LocalEngine[] = [];
const crossEntropy = { name: "cross-entropy", options: {} };
const adam: AdamOptions = {
  learningRate: 1e-3,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-4,
  weightDecay: 0.01,
  gradClipNorm: 1,
};

afterAll(() => Promise.all(engines.map((engine) => engine.close())));

async function open(from: string, workers = 1): Promise<LocalEngine> {
  await mkdir(folder, { recursive: true });
  const engine = await openLocalEngine({ model: from, workers, slots: 2, microBatchTokens: 64 });
  engines.push(engine);
  return engine;
}

function batch(seed: number): TrainingRow[] {
  const draw = random(seed);
  return [40, 7, 23, 31, 12].map((length) => {
    const ids = Array.from({ length: length + 1 }, () => draw.int(tinyConfig.vocabSize));
    const weights = Array.from({ length }, (_, i) => (i % 3 === 0 ? 0 : 0.01));
    return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
  });
}

async function step(engine: LocalEngine, seed: number): Promise<number> {
  await engine.forwardBackward(batch(seed), crossEntropy);
  return (await engine.optimStep(adam)).gradNorm;
}

async function files(engine: LocalEngine, name: string): Promise<Buffer[]> {
  const to = join(folder, name);
  await engine.save(to, { optimizer: true });
  const names = ["model.safetensors", "optimizer.safetensors", "training-state.json"];
  return Promise.all(names.map((file) => readFile(join(to, file))));
}

describe("forwardBackward", () => {
  it("gives the loss that its log-probabilities make, and NaN where the weight is 0", async () => {
    const engine = await open(model, 2);
    const rows = batch(1);
    const { loss, logprobs } = await engine.forwardBackward(rows, crossEntropy);
    let expected = 0;
    rows.forEach(({ fields: { weights } }, r) => {
      weights.forEach((weight, t) => {
        const logprob = logprobs[r]![t]!;
        if (weight === 0) expect(logprob).toBeNaN();
        else expected -= weight * logprob;
      });
    });
    expect(loss).toBeCloseTo(expected, 4);
    const again = await engine.logprobs(rows);
    rows.forEach((_, r) => {
      const gaps = again[r]!.map((each, t) => Math.abs(each - logprobs[r]![t]!));
      expect(Math.max(...gaps.filter((gap) => !Number.isNaN(gap)))).toBeLessThan(1e-4);
    });
  });

  it("is blind to targets of weight 0", async () => {
    const engine = await open(model);
    const rows = batch(1);
    const other = rows.map((row) => ({
      ...row,
      targets: row.targets.map((id, t) => (row.fields.weights[t] === 0 ? 5 : id)),
    }));
    const one = await engine.forwardBackward(rows, crossEntropy);
    const two = await engine.forwardBackward(other, crossEntropy);
    expect(two.loss).toBe(one.loss);
  });

  it("refuses rows that lack what the loss reads, and goes on", async () => {
    const engine = await open(model);
    const loss = { name: "policy-gradient", options: {} };
    // Thrown in a worker: class and code come back with it.
    await expect(engine.forwardBackward(batch(1), loss)).rejects.toThrow(
      errorWith("LOSS_FIELD_MISSING", /field "advantages" has no values for \d+ targets/),
    );
    expect(await step(engine, 1)).toBeGreaterThan(0);
  });
});

describe("optimStep", () => {
  it("leaves no gradients behind", async () => {
    const engine = await open(model, 2);
    expect(await step(engine, 1)).toBeGreaterThan(0);
    expect((await engine.optimStep(adam)).gradNorm).toBe(0);
    expect(engine.policyVersion).toBe(2);
  });

  it("leaves nothing of earlier sequences behind: samples equal those of an engine that had none", async () => {
    const [used, fresh] = [await open(model), await open(model)];
    const draw = (engine: LocalEngine, maxTokens: number, sequence: string | null) =>
      engine.sample({
        promptIds: [...batch(5)[0]!.inputs],
        maxTokens,
        stopIds: [],
        stopStrings: [],
        temperature: 1,
        topP: 1,
        topK: 0,
        seed: 6,
        sequence,
      });
    await Promise.all(["a", "b"].map((name) => draw(used, 150, name)));
    for (const engine of [used, fresh]) await step(engine, 1);
    expect(await draw(used, 40, "a")).toEqual(await draw(fresh, 40, null));
  });

  it("sums the gradients of calls before it", async () => {
    const [whole, parts] = [await open(model), await open(model)];
    await whole.forwardBackward(batch(1), crossEntropy);
    await parts.forwardBackward(batch(1).slice(0, 2), crossEntropy);
    await parts.forwardBackward(batch(1).slice(2), crossEntropy);
    const norms = [await whole.optimStep(adam), await parts.optimStep(adam)];
    expect(norms[1]!.gradNorm / norms[0]!.gradNorm).toBeCloseTo(1, 5);
  });

  it("agrees between one and two workers", async () => {
    const [one, two] = [await open(model, 1), await open(model, 2)];
    for (const seed of [1, 2, 3]) {
      const norms = [await step(one, seed), await step(two, seed)];
      // From the second step on the weights themselves differ in their last bits.
      expect(norms[1]! / norms[0]!).toBeCloseTo(1, seed === 1 ? 5 : 4);
    }
    await one.save(join(folder, "one"));
    await two.save(join(folder, "two"));
    const a = (await readCheckpoint(join(folder, "one"))).weights;
    const b = (await readCheckpoint(join(folder, "two"))).weights;
    expect(Math.max(...a.map((each, i) => Math.abs(each - b[i]!)))).toBeLessThan(1e-5);
    // Both workers sample from the new weights.
    const row = { ...batch(4)[0]!, fields: { weights: batch(4)[0]!.targets.map(() => 1) } };
    const promptIds = [...row.inputs];
    const request = { promptIds, maxTokens: 1, stopIds: [], stopStrings: [], temperature: 0 };
    const sampled = await Promise.all(
      [0, 1].map((seed) => two.sample({ ...request, topP: 1, topK: 0, seed, sequence: null })),
    );
    expect(sampled[1]).toEqual(sampled[0]);
  });

  it("lowers the loss on what it learns from", async () => {
    const engine = await open(model, 2);
    const before = await engine.forwardBackward(batch(1), crossEntropy);
    await engine.optimStep(adam);
    for (let i = 0; i < 10; i++) await step(engine, 1);
    const after = await engine.forwardBackward(batch(1), crossEntropy);
    expect(after.loss).toBeLessThan(0.9 * before.loss);
  });

  it("makes kept sequences start again with the new weights", async () => {
    const engine = await open(model);
    const promptIds = batch(1)[0]!.inputs;
    const request = {
      maxTokens: 4,
      stopIds: [],
      stopStrings: [],
      temperature: 1,
      topP: 1,
      topK: 0,
    };
    const first = await engine.sample({ ...request, promptIds, seed: 1, sequence: "kept" });
    for (let i = 0; i < 5; i++) await step(engine, 1);
    const longer = [...promptIds, ...first.ids];
    const kept = await engine.sample({ ...request, promptIds: longer, seed: 2, sequence: "kept" });
    const fresh = await engine.sample({ ...request, promptIds: longer, seed: 2, sequence: null });
    expect(kept).toEqual(fresh);
  });
});

describe("snapshot", () => {
  it("freezes the weights of the moment under a role", async () => {
    const engine = await open(model, 2);
    const rows = batch(1);
    const before = await engine.logprobs(rows);
    await engine.snapshot("reference");
    await step(engine, 1);
    expect(await engine.logprobs(rows, "reference")).toEqual(before);
    expect(await engine.logprobs(rows)).not.toEqual(before);
    await engine.snapshot("reference");
    expect(await engine.logprobs(rows, "reference")).toEqual(await engine.logprobs(rows));
  });

  it("names the known roles when another is asked for", async () => {
    const engine = await open(model);
    await engine.snapshot("reference");
    const asked = engine.logprobs(batch(1), "referense");
    await expect(asked).rejects.toMatchObject({ code: "ENGINE_NO_ROLE" });
    await expect(asked).rejects.toThrowErrorMatchingInlineSnapshot(
      `[ConfigError: log-probabilities of "referense": there are no weights with that name. Did you mean "reference"? Known: policy, reference.]`,
    );
  });
});

describe("a model whose tokenizer has more ids than its config", () => {
  it("is refused, with both numbers", async () => {
    const small = await writeTinyModel(join(folder, "small"), { ...tinyConfig, vocabSize: 100 });
    await expect(openLocalEngine({ model: small, workers: 1 })).rejects.toThrow(
      errorWith("CHECKPOINT_MISFIT", /265.* vocab_size is 100\./),
    );
  });
});

describe("save and load", () => {
  it("go on to the bit as if there had been no stop", async () => {
    const straight = await open(model, 2);
    for (const seed of [1, 2]) await step(straight, seed);
    await straight.save(join(folder, "half"), { optimizer: true });
    for (const seed of [3, 4]) await step(straight, seed);
    const expected = await files(straight, "straight");

    const opened = await open(join(folder, "half"), 2);
    expect(opened.policyVersion).toBe(2);
    for (const seed of [3, 4]) await step(opened, seed);
    expect(await files(opened, "opened")).toEqual(expected);

    const loaded = await open(model, 2);
    await step(loaded, 9);
    await loaded.load(join(folder, "half"));
    for (const seed of [3, 4]) await step(loaded, seed);
    expect(await files(loaded, "loaded")).toEqual(expected);
  });

  it("start the optimiser afresh where the folder has no state of it", async () => {
    const engine = await open(model);
    const expected = [await step(engine, 1), await step(engine, 2)];
    await engine.load(model);
    expect(engine.policyVersion).toBe(0);
    expect([await step(engine, 1), await step(engine, 2)]).toEqual(expected);
  });

  it("keep the tokenizer and take half the space in F16", async () => {
    const engine = await open(model);
    await engine.save(join(folder, "half-size"), { dtype: "F16" });
    const text = "one two</search>";
    const small = await open(join(folder, "half-size"));
    expect(small.tokenizer.encode(text)).toEqual(engine.tokenizer.encode(text));
    const [wide, narrow] = await Promise.all(
      [model, join(folder, "half-size")].map((each) => readFile(join(each, "model.safetensors"))),
    );
    expect(narrow!.length / wide!.length).toBeLessThan(0.6);
  });
});

describe("close", () => {
  it("lets a computation under way end, gives up sampling, and fails what comes after", async () => {
    const engine = await open(model);
    const under = engine.forwardBackward(batch(1), crossEntropy);
    const sampling = engine.sample({
      promptIds: [1, 2, 3],
      maxTokens: 50,
      stopIds: [],
      stopStrings: [],
      sequence: null,
      temperature: 1,
      topP: 1,
      topK: 0,
      seed: 1,
    });
    const givenUp = expect(sampling).rejects.toMatchObject({ code: "ENGINE_STOPPED" });
    await engine.close();
    await expect(under).resolves.toHaveProperty("loss");
    await givenUp;
    await expect(engine.logprobs(batch(1))).rejects.toMatchObject({ code: "ENGINE_STOPPED" });
  });
});
