import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { mean, sampleVariance } from "../../src/base/statistics.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { openLocalEngine, type LocalEngine } from "../../src/engine/local/local-engine.ts";
import { engineRole } from "../../src/rollout/roles.ts";
import { scoreTrajectories } from "../../src/rollout/score.ts";
import { algorithms } from "../../src/algorithms/index.ts";
import type { OnPolicyOptions } from "../../src/algorithms/on-policy.ts";
import { updateOn } from "../../src/algorithms/update.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { answered, task } from "../helpers/search-world.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../helpers/tiny-model.ts";
import "../helpers/all-parts.ts";

const folder = temporaryFolder();
const engines: LocalEngine[] = [];
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

async function open(name: string, spread: number): Promise<LocalEngine> {
  const model = join(folder, name);
  await mkdir(model, { recursive: true });
  await writeTinyModel(model, tinyConfig, spread);
  const engine = await openLocalEngine({ model, workers: 1, slots: 32, microBatchTokens: 256 });
  engines.push(engine);
  return engine;
}

const STEPS = 16;
const PROMPT = [40, 41, 42];

async function rollOut(engine: Engine, step: number): Promise<Trajectory[]> {
  const free = { temperature: 1, topP: 1, topK: 0, sequence: null, stopIds: [], stopStrings: [] };
  const draws = Array.from({ length: 64 }, (_, k) =>
    engine.sample({ ...free, promptIds: PROMPT, maxTokens: 3, seed: step * 100 + k }),
  );
  return (await Promise.all(draws)).map(({ ids, logprobs }, k) =>
    answered("x", {
      id: `${step}-${k}`,
      groupId: String(step),
      calls: [
        {
          parent: null,
          role: "policy",
          policyVersion: step,
          finish: "length",
          prompt: [{ owner: "template", ids: PROMPT, logprobs: null }],
          completion: [{ owner: "policy", ids, logprobs }],
        },
      ],
    }),
  );
}

/** Log-probabilities of every token after the prompt. */
async function distribution(engine: Engine): Promise<number[]> {
  const inputs = [...PROMPT];
  const weights = inputs.map((_, i) => Number(i === inputs.length - 1));
  const rows = Array.from({ length: tinyConfig.vocabSize }, (_, id) => {
    return { inputs, targets: [...PROMPT.slice(1), id], fields: { weights } };
  });
  return (await engine.logprobs(rows)).map((each) => each.at(-1) ?? NaN);
}

/** KL(student ‖ teacher) of the first token, over the whole vocabulary. */
async function exactKl(student: Engine, teacher: Engine): Promise<number> {
  const [own, other] = await Promise.all([distribution(student), distribution(teacher)]);
  return own.reduce((sum, each, id) => sum + Math.exp(each) * (each - (other[id] ?? NaN)), 0);
}

/** Mean and standard error of −reward at the first token: an estimate of the same KL. */
function estimatedKl(trajectories: readonly Trajectory[]): { mean: number; error: number } {
  const values = trajectories.map(
    ({ rewards }) => -(rewards.find(({ at }) => at?.token === 0)?.value ?? NaN),
  );
  return { mean: mean(values), error: Math.sqrt(sampleVariance(values) / values.length) };
}

it("brings a student near its teacher, without any other reward", async () => {
  const [student, teacher] = [await open("student", 1), await open("teacher", 2.5)];
  const role = engineRole("teacher", { engine: teacher, tokenizer: teacher.tokenizer });
  const scoring = { roles: { names: ["teacher"], get: () => role }, tokenizer: student.tokenizer };
  const rewards = [{ name: "distillation", weight: 1, options: { role: "teacher" } }];
  const algorithm = algorithms.get("reinforce", "test");
  const options = algorithm.options.parse({
    steps: STEPS,
    advantage: { name: "return" },
    optimizer: { learningRate: 1e-2, weightDecay: 0 },
  }) as unknown as OnPolicyOptions;
  const before = await exactKl(student, teacher);
  for (let step = 0; step < STEPS; step++) {
    const trajectories = await rollOut(student, step);
    const scored = trajectories.map((trajectory) => ({ task, trajectory }));
    expect(await scoreTrajectories(scored, rewards, scoring)).toEqual([]);
    if (step === 0) {
      const estimated = estimatedKl(trajectories);
      expect(Math.abs(estimated.mean - before)).toBeLessThan(4 * estimated.error);
    }
    await updateOn({ algorithm, options, engine: student, rewards, seed: 1 }, step, trajectories);
  }
  const after = await exactKl(student, teacher);
  expect(after).toBeLessThan(before / 2);
});
