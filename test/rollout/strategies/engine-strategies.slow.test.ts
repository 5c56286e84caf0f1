import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openLocalEngine, type LocalEngine } from "../../../src/engine/local/local-engine.ts";
import { enginePolicy } from "../../../src/rollout/policy.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { passages, rolloutOptions, searchEnvironment, task } from "../../helpers/search-world.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const environment = searchEnvironment({
  budgets: [
    { scope: "trajectory", unit: "turns", limit: 2, onExhausted: "final-turn" },
    { scope: "turn", unit: "tokens", limit: 12, onExhausted: "cut" },
    { scope: "observation", unit: "tokens", limit: 60, onExhausted: "cut" },
  ],
});
const SMALL: Record<string, object> = {
  "best-of-n": { steps: 1, chains: 2 },
  "tree-search": { steps: 2, expand: 2, lookahead: 1 },
  "self-consistent-actions": { actions: 2 },
  "self-consistency": { draws: 2 },
  composerag: { reflections: 0, subQuestions: 2 },
};
let engine: LocalEngine;

beforeAll(async () => {
  // Prompts in bytes are long.
  await writeTinyModel(folder, { ...tinyConfig, maxPositions: 2048 });
  engine = await openLocalEngine({ model: folder, workers: 1, slots: 2 });
});

afterAll(() => engine.close());

describe.each(
  strategies.parts
    .filter(({ name }) => name !== "external")
    .map((part) => ({ name: part.name, part })),
)("strategy $name with the local engine", ({ name, part }) => {
  const run = (seed: number): Promise<Trajectory> => {
    const policy = enginePolicy(engine, engine.tokenizer);
    const sampling = { temperature: 1, topP: 1, topK: 0 };
    const id = `${name}-${seed}`;
    const options = rolloutOptions({ policy, environment, sampling, id, seed });
    const own = { ...task, annotations: { context: passages } };
    return part.run({ ...options, task: own }, SMALL[name]);
  };

  it("gives the same bytes for the same seed, alone or among others", async () => {
    const together = await Promise.all([1, 2].map(run));
    for (const each of together) {
      expect(each.error).toBeUndefined();
      expect(each.calls.length).toBeGreaterThan(0);
    }
    expect(JSON.stringify(await run(2))).toBe(JSON.stringify(together[1]));
  });
});

describe("log-probabilities of a given text", () => {
  it("are those that the engine samples it with", async () => {
    const policy = enginePolicy(engine, engine.tokenizer);
    const promptIds = engine.tokenizer.encodeStart("one two three");
    const sampled = await engine.sample({
      promptIds,
      maxTokens: 8,
      temperature: 1,
      topP: 1,
      topK: 0,
      seed: 4,
      sequence: null,
      stopIds: [],
      stopStrings: [],
    });
    const logprobs = await policy.logprobs!(promptIds, sampled.ids);
    expect(logprobs).toHaveLength(8);
    logprobs.forEach((each, i) => {
      expect(Math.abs(each - sampled.logprobs[i]!)).toBeLessThan(1e-4);
    });
  });
});
