import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PolicyEngine, TEMPERATURES, type TrainingRow } from "../../src/engine/engine.ts";
import { openLocalEngine } from "../../src/engine/local/local-engine.ts";
import { recordedTemperature } from "../../src/rollout/sampling.ts";
import type { EngineServer } from "../../src/server/engine/engine-server.ts";
import type { OnPolicyOptions } from "../../src/algorithms/algorithm.ts";
import { grpo } from "../../src/algorithms/grpo.ts";
import { updateOn } from "../../src/algorithms/update.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { errorWith } from "../helpers/error-with.ts";
import { answered } from "../helpers/search-world.ts";
import { openRemoteEngine, serveModel, SMALL, smallLora } from "../helpers/served-engine.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyModel } from "../helpers/tiny-model.ts";

const folder = temporaryFolder();
const model = await writeTinyModel(join(folder, "model"));
let server: EngineServer;
const engines: Record<string, PolicyEngine> = {};
beforeAll(async () => {
  server = await serveModel(model, folder);
  engines["local"] = await openLocalEngine({ model, lora: smallLora, ...SMALL });
  engines["serve engine"] = await openRemoteEngine(model, server.url);
  for (const engine of Object.values(engines)) await engine.snapshot("reference");
});
afterAll(async () => {
  for (const engine of Object.values(engines)) await engine.close();
  await server.close();
});

const shapes = [
  { topK: 0, topP: 1 },
  { topK: 20, topP: 0.7, minP: 0.05 },
];

/** Two answers to one question, one of them right. */
async function group(
  engine: PolicyEngine,
  draw: { temperature: number; topK: number; topP: number; minP?: number },
): Promise<Trajectory[]> {
  const promptIds = [40, 41, 42, 43];
  return Promise.all(
    [1, 0].map(async (reward, seed) => {
      const { ids, logprobs } = await engine.sample({
        promptIds,
        maxTokens: 12,
        stopIds: [],
        stopStrings: [],
        sequence: null,
        seed,
        ...draw,
      });
      const call = {
        parent: null,
        role: "policy",
        policyVersion: 0,
        finish: "length" as const,
        prompt: [{ owner: "template" as const, ids: promptIds, logprobs: null }],
        completion: [{ owner: "policy" as const, ids, logprobs }],
        ...recordedTemperature(draw),
      };
      return answered(`t${seed}`, { groupId: "g", calls: [call], reward, rewards: [] });
    }),
  );
}

/** Of one sequence, its targets at a temperature. */
function rowOf({ calls }: Trajectory, temperature: number): TrainingRow {
  const [call] = calls;
  const [prompt, own] = [call!.prompt[0]!.ids, call!.completion[0]!.ids];
  const ids = [...prompt, ...own];
  const targets = ids.slice(1);
  const weights = targets.map((_, i) => Number(i >= prompt.length - 1));
  const temperatures = targets.map(() => temperature);
  return { inputs: ids.slice(0, -1), targets, fields: { weights, [TEMPERATURES]: temperatures } };
}

describe.each(["local", "serve engine"])("the first update, %s", (name) => {
  it.each(
    [0.7, 1, 1.5].flatMap((temperature) => shapes.map((shape) => ({ temperature, ...shape }))),
  )("has ratios of 1 at temperature $temperature, top-k $topK, top-p $topP", async (draw) => {
    const engine = engines[name]!;
    const batch = await group(engine, draw);
    const scored = await engine.logprobs(batch.map((each) => rowOf(each, draw.temperature)));
    batch.forEach(({ calls }, i) => {
      const sampled = calls[0]!.completion[0]!.logprobs!;
      const found = scored[i]!.slice(-sampled.length);
      const ratios = sampled.map((each, t) => Math.exp(found[t]! - each));
      expect(Math.max(...ratios.map((ratio) => Math.abs(ratio - 1)))).toBeLessThan(1e-5);
    });
    const { metrics } = await updateOn(
      {
        algorithm: grpo,
        engine,
        rewards: [],
        seed: 1,
        // A rate that leaves the weights alone, for the next case.
        options: grpo.options.parse({
          optimizer: { learningRate: 1e-30 },
          klCoef: 0.1,
        }) as unknown as OnPolicyOptions,
      },
      0,
      batch,
    );
    expect(metrics["mismatch/kl"]).toBeLessThan(1e-9);
    expect(metrics["losses/clip_fraction"]).toBe(0);
    // The reference is the policy.
    expect(Math.abs(metrics["losses/kl"]!)).toBeLessThan(1e-9);
    expect(Math.abs(metrics["losses/approx_kl"]!)).toBeLessThan(1e-6);
  });
});

it("has the local engine's gradient over serve engine, at every temperature", async () => {
  const [here, there] = [engines["local"]!, engines["serve engine"]!];
  for (const temperature of [0.7, 1.5]) {
    const batch = await group(here, { temperature, topK: 0, topP: 1 });
    const rows = batch.map((each, i): TrainingRow => {
      const row = rowOf(each, temperature);
      const oldLogprobs = row.targets.map(() => -3);
      return { ...row, fields: { ...row.fields, oldLogprobs, advantages: row.targets.map(() => 1 - 2 * i) } }; // prettier-ignore
    });
    for (const klCoef of [0, 0.1]) {
      const given = rows.map((row) => ({ ...row, fields: { ...row.fields, refLogprobs: row.targets.map(() => -2) } })); // prettier-ignore
      const loss = { name: "policy-gradient", options: { klCoef } };
      const adam = { learningRate: 0, beta1: 0.9, beta2: 0.99, epsilon: 1e-4, weightDecay: 0, gradClipNorm: 1 }; // prettier-ignore
      const [ours, theirs] = [await here.forwardBackward(given, loss), await there.forwardBackward(given, loss)]; // prettier-ignore
      expect(theirs.loss).toBeCloseTo(ours.loss, 4);
      const norms = [(await here.optimStep(adam)).gradNorm, (await there.optimStep(adam)).gradNorm];
      expect(norms[1]! / norms[0]!).toBeCloseTo(1, 4);
    }
  }
});

it("refuses rows at other temperatures on a server that would ignore them", async () => {
  const engine = await openRemoteEngine(model, server.url, { dialect: "tinker" });
  const batch = await group(engine, { temperature: 0.7, topK: 0, topP: 1 });
  const rows = batch.map((each) => rowOf(each, 0.7));
  expect(engine.capabilities.temperatures).toBe(false);
  await expect(engine.logprobs(rows)).rejects.toThrow(
    errorWith("ENGINE_UNFIT", "sampling.temperature is 0.7: a tinker server"),
  );
  await engine.close();
});
