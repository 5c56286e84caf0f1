import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { PolicyEngine, TrainingRow } from "../../../src/engine/engine.ts";
import { openLocalEngine } from "../../../src/engine/local/local-engine.ts";
import type { LossSpec } from "../../../src/losses/loss.ts";
import { readCheckpoint } from "../../../src/models/checkpoint.ts";
import { parameterSpecs, tensorsOf } from "../../../src/models/parameters.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { fakeTinker } from "../../helpers/fake-tinker.ts";
import { openRemoteEngine, serveModel, SMALL } from "../../helpers/served-engine.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const model = await writeTinyModel(join(folder, "model"));
const server = await serveModel(model, folder);
afterAll(() => server.close());

const adam = {
  learningRate: 1e-3,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-8,
  weightDecay: 0,
  gradClipNorm: 1,
};
/** One that the server has, and one in two passes. */
const steps: LossSpec[] = [
  { name: "policy-gradient", options: { clipHigh: 0.28 } },
  { name: "policy-gradient", options: { clipHigh: 0.28, dualClip: 3 } },
];

const remote = (): Promise<PolicyEngine> => openRemoteEngine(model, server.url, { lora: null });
const local = (from = model): Promise<PolicyEngine> => openLocalEngine({ model: from, ...SMALL });

/** Rows near the policy; weights are a power of two, which rounds nothing where they go into advantages. */
async function batch(engine: PolicyEngine): Promise<TrainingRow[]> {
  const draw = random(3);
  const rows = [20, 7, 13].map((length): TrainingRow => {
    const ids = Array.from({ length: length + 1 }, () => draw.int(tinyConfig.vocabSize));
    const weights = Array.from({ length }, () => (draw.next() < 0.3 ? 0 : 1 / 64));
    return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
  });
  const scored = await engine.logprobs(rows);
  return rows.map((row, i) => {
    const near = Array.from(scored[i]!, (each) => each + draw.next() - 0.5);
    const advantages = row.targets.map(() => draw.next() * 2 - 1);
    return { ...row, fields: { ...row.fields, oldLogprobs: near, advantages } };
  });
}

async function scores(engine: PolicyEngine, rows: readonly TrainingRow[]): Promise<number[]> {
  const all = (await engine.logprobs(rows)).flatMap((row) => [...row]);
  return all.filter((each) => !Number.isNaN(each));
}

const most = (one: readonly number[], other: readonly number[]): number =>
  Math.max(...one.map((value, i) => Math.abs(value - other[i]!)));

/** By parameter, the largest difference between two folders. */
async function apart(one: string, other: string): Promise<Map<string, number>> {
  const [a, b] = [await readCheckpoint(one), await readCheckpoint(other)];
  const specs = parameterSpecs(a.config);
  const theirs = tensorsOf(specs, b.weights);
  return new Map(
    tensorsOf(specs, a.weights).map(({ name, data }, i) => [
      name,
      most([...data], [...theirs[i]!.data]),
    ]),
  );
}

describe("all weights over the wire", () => {
  it("two steps: every weight changes, and as in the local engine", async () => {
    const [here, there] = [await local(), await remote()];
    const rows = await batch(here);
    const before = await scores(here, rows);
    for (const loss of steps) {
      const norms: number[] = [];
      for (const engine of [here, there]) {
        await engine.forwardBackward(rows, loss);
        norms.push((await engine.optimStep(adam)).gradNorm);
      }
      expect(norms[1]! / norms[0]!).toBeCloseTo(1, 5);
    }
    const after = await scores(here, rows);
    expect(most(after, before)).toBeGreaterThan(0.05);
    expect(most(await scores(there, rows), after)).toBeLessThan(1e-4);
    const folders = ["here", "there"].map((name) => join(folder, name));
    for (const [i, engine] of [here, there].entries()) {
      await mkdir(folders[i]!);
      await engine.save(folders[i]!, { merged: true });
      await engine.close();
    }
    const moved = await apart(folders[1]!, model);
    // Embedding, norms and biases have no adapter.
    expect(moved.size).toBeGreaterThan(20);
    for (const [name, by] of moved) expect(by, name).toBeGreaterThan(1e-4);
    for (const [name, by] of await apart(folders[0]!, folders[1]!))
      expect(by, name).toBeLessThan(2e-4);
    const opened = await local(folders[1]);
    expect(most(await scores(opened, rows), after)).toBeLessThan(1e-4);
    await opened.close();
  });

  it("continues from a checkpoint as if it had not stopped, with a reference beside it", async () => {
    const there = await remote();
    await there.snapshot("reference");
    const rows = await batch(there);
    const begun = await scores(there, rows);
    const step = async (engine: PolicyEngine): Promise<number[]> => {
      await engine.forwardBackward(rows, steps[0]!);
      await engine.optimStep(adam);
      return scores(engine, rows);
    };
    await step(there);
    const at = join(folder, "checkpoint");
    await mkdir(at);
    await there.save(at, { optimizer: true });
    const expected = await step(there);
    await there.load(at);
    expect(there.policyVersion).toBe(1);
    expect(await step(there)).toEqual(expected);
    const reference = (await there.logprobs(rows, "reference")).flatMap((row) => [...row]);
    expect(reference.filter((each) => !Number.isNaN(each))).toEqual(begun);
    await there.close();
  });

  it("are drawn from after a step", async () => {
    const [here, there] = [await local(), await remote()];
    const rows = await batch(here);
    const drawn: unknown[] = [];
    for (const engine of [here, there]) {
      await engine.forwardBackward(rows, steps[0]!);
      await engine.optimStep({ ...adam, learningRate: 1e-2 });
      const { ids } = await engine.sample({
        promptIds: [5, 6, 7],
        maxTokens: 16,
        stopIds: [],
        stopStrings: [],
        seed: 11,
        temperature: 1,
        topP: 1,
        topK: 0,
        sequence: null,
      });
      drawn.push(ids);
      await engine.close();
    }
    expect(drawn[1]).toEqual(drawn[0]);
  });
});

describe("servers that train adapters alone", () => {
  it.each(["skyrl-jax", "tuft", "open-rl", "tinker", null] as const)(
    "%s: refused before anything is sent to train",
    async (dialect) => {
      const { url, calls } = await fakeTinker({});
      await expect(openRemoteEngine(model, url, { lora: null, dialect })).rejects.toThrow(
        errorWith("ENGINE_UNFIT", "policy.lora is not set, so the recipe trains all weights"),
      );
      expect(calls).toEqual([]);
    },
  );

  it("SkyRL with JAX, named as another backend: its refusal of rank 0 is told", async () => {
    // As recorded at SkyRL 0.4.0 with JAX.
    const detail = "LoRA rank 0 must be between 1 and 16";
    const { url, calls, paths } = await fakeTinker({ refuses: () => ({ detail }) });
    await expect(openRemoteEngine(model, url, { lora: null, dialect: "skyrl" })).rejects.toThrow(
      errorWith("ENGINE_UNFIT", /LoRA rank 0 must be.*backends fsdp and megatron/),
    );
    expect(paths()).toEqual(["create_model"]);
    expect(calls[0]!.body["lora_config"]).toMatchObject({ rank: 0 });
  });

  it("a server that makes adapters instead: refused, and they are unloaded", async () => {
    const { url, paths } = await fakeTinker({ created: { lora_config: { rank: 32 } } });
    await expect(openRemoteEngine(model, url, { lora: null, dialect: "skyrl" })).rejects.toThrow(
      errorWith("ENGINE_UNFIT", "made adapters of rank 32 instead"),
    );
    expect(paths()).toEqual(["create_model", "unload_model"]);
  });
});

describe("a server with room for one model (SkyRL)", () => {
  const rows: TrainingRow[] = [{ inputs: [3, 4], targets: [4, 5], fields: { weights: [1, 1] } }];

  it("loads into the fresh model, or unloads it before the next one is made", async () => {
    const { url, paths, calls } = await fakeTinker({});
    const engine = await openRemoteEngine(model, url, { lora: null, dialect: "skyrl" });
    const at = join(folder, "one");
    await mkdir(at);
    await engine.save(at, { optimizer: true });
    await engine.load(at);
    await engine.load(at);
    await engine.close();
    const resumed = await openRemoteEngine(model, url, { lora: null, dialect: "skyrl" });
    calls.length = 0;
    await resumed.load(at);
    expect(paths()).toEqual(["load_weights"]);
    await resumed.close();
  });

  it("refuses a reference and a copy of the policy", async () => {
    const { url, paths } = await fakeTinker({});
    const engine = await openRemoteEngine(model, url, { lora: null, dialect: "skyrl" });
    const unfit = errorWith("ENGINE_UNFIT", "holds no other beside it");
    await expect(engine.snapshot("reference")).rejects.toThrow(unfit);
    await expect(engine.logprobs(rows, "base")).rejects.toThrow(unfit);
    expect(paths()).toEqual(["create_model"]);
    await engine.close();
  });
});
