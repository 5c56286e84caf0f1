import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AdamOptions } from "../../../src/autodiff/adamw.ts";
import { random } from "../../../src/base/random.ts";
import type { PolicyEngine, SampleRequest, TrainingRow } from "../../../src/engine/engine.ts";
import { openLocalEngine } from "../../../src/engine/local/local-engine.ts";
import type { DialectName } from "../../../src/engine/tinker/dialect.ts";
import type { LossSpec } from "../../../src/losses/loss.ts";
import type { EngineServer } from "../../../src/server/engine/engine-server.ts";
import { rowOffsets } from "../../../src/algorithms/training-rows.ts";
import { expectClose } from "../../helpers/expect-close.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { openRemoteEngine, serveModel, SMALL, smallLora } from "../../helpers/served-engine.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const model = await writeTinyModel(join(folder, "model"));
/**
 * Ten times the rate moves log-probabilities by 8 nats, to a model in which one product's rounding moves them by 2·10⁻⁴ on some processors.
 */
const adam: AdamOptions = {
  learningRate: 1e-3,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-4,
  weightDecay: 0,
  gradClipNorm: 1,
};

let server: EngineServer;
const opened: PolicyEngine[] = [];
beforeAll(async () => {
  server = await serveModel(model, folder);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((engine) => engine.close()));
});
afterAll(() => server.close());

async function local(): Promise<PolicyEngine> {
  const engine = await openLocalEngine({ model, lora: smallLora, ...SMALL });
  opened.push(engine);
  return engine;
}

async function remote(options: { dialect?: DialectName } = {}): Promise<PolicyEngine> {
  const engine = await openRemoteEngine(model, server.url, options);
  opened.push(engine);
  return engine;
}

/**
 * Three rows with every field that a loss may read; some targets are not scored. `far`: the old log-probabilities are far from the
 * policy's, so that most ratios are tiny or clipped.
 */
async function batch(
  engine: PolicyEngine,
  { weight = 0.02, far = false } = {},
): Promise<TrainingRow[]> {
  const draw = random(3);
  const rows = [40, 7, 23].map((length): TrainingRow => {
    const ids = Array.from({ length: length + 1 }, () => draw.int(tinyConfig.vocabSize));
    const weights = Array.from({ length }, () => (draw.next() < 0.3 ? 0 : weight));
    return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
  });
  const scored = await engine.logprobs(rows);
  return rows.map((row, i) => {
    const other = (): number[] =>
      Array.from(scored[i]!, (each) => (far ? -3 * draw.next() : each + draw.next() - 0.5));
    const fields = { oldLogprobs: other(), refLogprobs: other(), sampledLogprobs: other() };
    const offsets = rowOffsets(row.fields.weights.map(Math.sign));
    const advantages = row.targets.map(() => draw.next() * 2 - 1);
    return { ...row, fields: { ...row.fields, ...fields, advantages, rowOffsets: offsets } };
  });
}

const losses: Record<string, LossSpec> = {
  "cross-entropy": { name: "cross-entropy", options: {} },
  "PPO clip": { name: "policy-gradient", options: { clipHigh: 0.28 } },
  REINFORCE: { name: "policy-gradient", options: { ratio: "none" } },
  "GRPO with KL": { name: "policy-gradient", options: { klCoef: 0.05, klEstimator: "k3" } },
  "dual clip and truncation": {
    name: "policy-gradient",
    options: { dualClip: 3, importanceSamplingCap: 2 },
  },
  cispo: { name: "cispo", options: {} },
  gspo: { name: "gspo", options: {} },
};

async function oneStep(engine: PolicyEngine, rows: readonly TrainingRow[], loss: LossSpec) {
  const first = await engine.forwardBackward(rows, loss);
  const { gradNorm } = await engine.optimStep(adam);
  return { first, gradNorm, after: await engine.logprobs(rows) };
}

function expectSame(found: readonly Float32Array[], expected: readonly Float32Array[]): void {
  found.forEach((row, i) => {
    expectClose(row.map(known), expected[i]!.map(known), { atol: 1e-4, rtol: 0 });
  });
}

/** Targets that are not scored, as a number that no log-probability is. */
const known = (logprob: number): number => (Number.isNaN(logprob) ? 99 : logprob);

describe.each(["agentrl", "open-rl"] as const)("updates over the %s dialect", (dialect) => {
  it.each(Object.keys(losses))("%s: as the local engine", async (name) => {
    const here = await local();
    const there = await remote({ dialect });
    const rows = await batch(here);
    const ours = await oneStep(here, rows, losses[name]!);
    const theirs = await oneStep(there, rows, losses[name]!);
    expect(theirs.first.loss).toBeCloseTo(ours.first.loss, 4);
    expect(theirs.gradNorm).toBeCloseTo(ours.gradNorm, 3);
    for (const [metric, value] of Object.entries(ours.first.metrics))
      expect(theirs.first.metrics[metric]).toBeCloseTo(value, 4);
    expectSame(theirs.after, ours.after);
    expectSame(theirs.first.logprobs, ours.first.logprobs);
  });
});

/**
 * `ppo` has no weights, so the client multiplies them into the advantages, which rounds each token by 2⁻²⁴. The local engine rounds
 * elsewhere. Adam divides by √v, so elements with a gradient below that rounding move either way when ε is as small.
 */
describe("native PPO and Adam's epsilon", () => {
  const ppo = losses["PPO clip"]!;
  const cases = [false, true].flatMap((far) => [
    { far, steps: 1, epsilon: 1e-6 },
    { far, steps: 2, epsilon: 1e-8 },
  ]);
  async function apart(
    engines: [PolicyEngine, PolicyEngine],
    rows: readonly [readonly TrainingRow[], readonly TrainingRow[]],
    { steps, epsilon }: { steps: number; epsilon: number },
  ): Promise<number> {
    const after = await Promise.all(
      engines.map(async (engine, i) => {
        for (let step = 0; step < steps; step++) {
          await engine.forwardBackward(rows[i]!, ppo);
          await engine.optimStep({ ...adam, epsilon });
        }
        return (await engine.logprobs(rows[0])).flatMap((row) => Array.from(row, known));
      }),
    );
    return Math.max(...after[0]!.map((value, i) => Math.abs(value - after[1]![i]!)));
  }

  it.each(cases)(
    "weights of a power of two do not round: same bits ($far, $steps, $epsilon)",
    async (at) => {
      const engines: [PolicyEngine, PolicyEngine] = [await local(), await remote()];
      const rows = await batch(engines[0], { weight: 1 / 64, far: at.far });
      expect(await apart(engines, [rows, rows], at)).toBe(0);
    },
  );

  it.each(cases)(
    "others: same bits as weights in the advantages here ($far, $steps, $epsilon)",
    async (at) => {
      const engines: [PolicyEngine, PolicyEngine] = [await local(), await remote()];
      const rows = await batch(engines[0], { far: at.far });
      const folded = rows.map(({ fields, ...row }): TrainingRow => {
        const advantages = fields["advantages"]!.map((a, i) => a * fields.weights[i]!);
        return {
          ...row,
          fields: { ...fields, advantages, weights: fields.weights.map(Math.sign) },
        };
      });
      expect(await apart(engines, [folded, rows], at)).toBe(0);
    },
  );

  it("clips ratios that are far off as here: the gradient's norm, before Adam", async () => {
    const engines = [await local(), await remote()];
    const rows = await batch(engines[0]!, { far: true });
    const norms: number[] = [];
    for (const engine of engines) {
      await engine.forwardBackward(rows, ppo);
      norms.push((await engine.optimStep(adam)).gradNorm);
    }
    expect(norms[1]! / norms[0]!).toBeCloseTo(1, 7);
  });
});

describe("a remote engine", () => {
  it("gives the DPO update of the local engine, the reference being a second model", async () => {
    const after: Float32Array[][] = [];
    for (const engine of [await local(), await remote()]) {
      const rows = await batch(engine);
      await engine.snapshot("reference");
      await engine.forwardBackward(rows, losses["cross-entropy"]!);
      await engine.optimStep(adam);
      const [policy, reference] = [
        await engine.logprobs(rows),
        await engine.logprobs(rows, "reference"),
      ];
      const sum = (all: Float32Array[], i: number): number =>
        all[i]!.reduce((total, each) => total + (Number.isNaN(each) ? 0 : each), 0);
      // -log sigma(h) of rows 0 and 1: its slope goes into the tokens' weights, one side's negative.
      const h = 0.1 * (sum(policy, 0) - sum(reference, 0) - sum(policy, 1) + sum(reference, 1));
      const slope = 0.1 / (1 + Math.exp(h));
      const pair = rows
        .slice(0, 2)
        .map((row, i) => ({
          ...row,
          fields: {
            weights: row.fields.weights.map((w) => (w === 0 ? 0 : i === 0 ? slope : -slope)),
          },
        }));
      await engine.forwardBackward(pair, losses["cross-entropy"]!);
      await engine.optimStep(adam);
      after.push(await engine.logprobs(rows), reference);
    }
    expectSame(after[2]!, after[0]!);
    expectSame(after[3]!, after[1]!);
  });

  it("draws the tokens of the local engine, before and after a step, cut at the stop", async () => {
    const request: SampleRequest = {
      promptIds: [5, 6, 7],
      maxTokens: 24,
      stopIds: [0],
      stopStrings: [],
      seed: 11,
      temperature: 1,
      topP: 1,
      topK: 0,
      sequence: null,
    };
    const results: unknown[] = [];
    for (const engine of [await local(), await remote()]) {
      const rows = await batch(engine);
      const free = await engine.sample(request);
      const word = engine.tokenizer.decode(free.ids.slice(6, 7));
      const cut = await engine.sample({ ...request, stopStrings: [word] });
      await engine.forwardBackward(rows, losses["PPO clip"]!);
      await engine.optimStep(adam);
      const later = await engine.sample({ ...request, temperature: 0.7, topK: 20 });
      expectClose(cut.logprobs, free.logprobs.slice(0, cut.ids.length), { atol: 1e-5 });
      results.push([free, cut, later].map(({ ids, finish }) => ({ ids, finish })));
    }
    expect(results[1]).toEqual(results[0]);
  });

  it("continues from a checkpoint as if it had not stopped, also at a restarted server", async () => {
    const steps = losses["GRPO with KL"]!;
    const data = join(folder, "kept");
    const before = await serveModel(model, data);
    const straight = await openRemoteEngine(model, before.url);
    const rows = await batch(straight);
    await oneStep(straight, rows, steps);
    const at = join(folder, "checkpoint");
    await straight.save(at, { optimizer: true });
    const { after: expected } = await oneStep(straight, rows, steps);
    await straight.close();
    const port = Number(new URL(before.url).port);
    await before.close();
    const restarted = await serveModel(model, data, { port });
    const resumed = await openRemoteEngine(model, restarted.url);
    await resumed.load(at);
    expect(resumed.policyVersion).toBe(1);
    const { after } = await oneStep(resumed, rows, steps);
    expect(after.map((row) => [...row])).toEqual(expected.map((row) => [...row]));
    await resumed.close();
    await restarted.close();
  });

  it("exports a standalone model, which the local engine opens", async () => {
    const engine = await remote();
    const rows = await batch(engine);
    const { after } = await oneStep(engine, rows, losses["PPO clip"]!);
    const to = join(folder, "exported");
    await engine.save(to, { merged: true });
    const here = await openLocalEngine({ model: to, trains: false, ...SMALL });
    opened.push(here);
    expectSame(await here.logprobs(rows), after);
  });

  it("refuses what the server cannot do or would ignore", async () => {
    const engine = await remote();
    const entropy = { name: "policy-gradient", options: { entropyCoef: 0.01 } };
    await expect(engine.forwardBackward(await batch(engine), entropy)).rejects.toThrow(
      errorWith("ENGINE_UNFIT", "entropyCoef"),
    );
    await expect(engine.values([])).rejects.toThrow(errorWith("ENGINE_UNFIT", "critic"));
    await expect(
      openRemoteEngine(model, server.url, { lora: { ...smallLora, alpha: 16 }, dialect: "tinker" }),
    ).rejects.toThrow(errorWith("ENGINE_UNFIT", /policy.lora.alpha is 16.* alpha 32/));
    await expect(
      openRemoteEngine(model, server.url, { lora: { ...smallLora, targets: ["q_proj"] } }),
    ).rejects.toThrow(errorWith("ENGINE_UNFIT", "policy.lora.targets"));
    const clipped = await remote({ dialect: "skyrl" });
    await expect(clipped.optimStep(adam)).rejects.toThrow(
      errorWith("ENGINE_UNFIT", "gradClipNorm"),
    );
  });
});
