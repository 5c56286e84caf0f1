import { join } from "node:path";
import { mkdirSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { toHuggingFaceConfig } from "../../../src/models/config-json.ts";
import { parameterCount } from "../../../src/models/parameters.ts";
import { publishedShapes } from "../../../src/models/published-shapes.ts";
import { longestSequence } from "../../../src/run/plan/longest-sequence.ts";
import { parseMemory } from "../../../src/run/plan/parse-memory.ts";
import { plannedRun, planRecipe, type Plan } from "../../../src/run/plan/plan.ts";
import { plannedModel } from "../../../src/run/plan/planned-model.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import {
  checkSettings,
  parseSet,
  resolveSettings,
  type ResolvedSettings,
} from "../../../src/run/settings/settings.ts";
import { settingsSchema, type Settings } from "../../../src/run/settings/settings-schema.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
const model = join(folder, "tiny");
const written = join(folder, "own.yaml");

beforeAll(() => {
  mkdirSync(model);
  // Wide enough for the recipes' contexts of 500 tokens.
  const config = { ...tinyConfig, maxPositions: 512 };
  writeFileSync(join(model, "config.json"), JSON.stringify(toHuggingFaceConfig(config)));
  writeFileSync(written, "summary: x\nbase: {}\ntiers: { mini: {} }\n");
});

async function resolved(
  sets: readonly string[] = [],
  recipe = "search-r1",
): Promise<ResolvedSettings<Settings>> {
  const file = await loadRecipe(recipe);
  const tier = recipe === "search-r1" ? "smoke" : "mini";
  const overrides = [
    { key: "policy.from", value: model, origin: "test" },
    { key: "engine.workers", value: 1, origin: "test" },
    ...sets.map(parseSet),
  ];
  return checkSettings(settingsSchema, resolveSettings(file, { tier, overrides }));
}

async function planned(sets: readonly string[] = [], memory: number | null = null): Promise<Plan> {
  const all = await resolved(sets);
  return planRecipe(await plannedRun(all, await plannedModel(all.settings)), { memory });
}

/** As the environment of search-r1 plans it. */
async function plannedPolicy(policy: Partial<Settings["policy"]>, sets: readonly string[] = []) {
  const { environment, policy: own } = (await resolved(sets)).settings;
  return plannedModel({ policy: { ...own, ...policy }, environment });
}

describe("the batch of a plan", () => {
  it("counts each leaf of a tree rollout", async () => {
    const plain = await planned();
    const tree = await planned(["strategy={ name: tree-rollout, width: 3, depth: 2 }"]);
    expect(tree.batch.trajectories).toBe(9 * plain.batch.trajectories);
  });

  it("multiplies questions, groups, epochs and steps out", async () => {
    const { batch } = await planned();
    expect(batch).toMatchObject({
      stage: "train",
      prompts: 4,
      groupSize: 4,
      trajectories: 16,
      steps: 2,
      epochs: 1,
      minibatches: 2,
      optimizerSteps: 2,
      // 1024 tokens hold two sequences of 512; each half of 16 takes four of them.
      microBatch: { sequences: 2, perStep: 8 },
      // Five messages of 48 tokens; 500 tokens of context.
      tokens: { sampled: 2 * 16 * 5 * 48, trained: 2 * 16 * 500 },
    });
  });

  it("counts every epoch, and minibatches of unequal sizes one by one", async () => {
    const sets = ["algorithm.epochs=3", "algorithm.minibatches=3", "engine.microBatchTokens=512"];
    const { batch } = await planned(sets);
    // 6 + 5 + 5 trajectories, one to a micro-batch, three times.
    expect(batch).toMatchObject({ optimizerSteps: 9, microBatch: { sequences: 1, perStep: 48 } });
    expect(batch.tokens.trained).toBe(2 * 3 * 16 * 500);
  });

  it("is that of the supervised stages where a recipe has those alone", async () => {
    const all = await resolved([], "base-policy");
    const plan = planRecipe(await plannedRun(all, await plannedPolicy({ from: model })), {
      memory: null,
    });
    expect(plan.batch).toMatchObject({ stage: "sft", groupSize: 1, tokens: { sampled: 0 } });
  });

  it("counts the samples of a file, and says when there is none yet", async () => {
    const file = join(folder, "samples.jsonl");
    writeFileSync(file, "{}\n".repeat(70));
    const own = await plannedPolicy({ from: model });
    const sft = async (set: string) => {
      const all = await resolved([set], written);
      return planRecipe(await plannedRun(all, own), { memory: null });
    };
    const { batch } = await sft(`sft={data: ${file}, epochs: 2}`);
    // 32, 32 and 6 samples, twice.
    expect(batch).toMatchObject({ stage: "sft", prompts: 32, steps: 6 });
    await expect(sft("sft={data: nowhere}")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "there are none at sft.data (nowhere)"),
    );
  });

  it("is that of one stage of several, and says which: one that reinforces, or else fine-tunes", async () => {
    const own = await plannedPolicy({ from: model });
    const staged = async (stages: string) => {
      const all = await resolved([`stages=${stages}`]);
      return planRecipe(await plannedRun(all, own), { memory: null });
    };
    const rl = await staged(
      "[{ do: synth }, { do: sft }, { do: train, name: rl, set: { algorithm.steps: 7 } }]",
    );
    const unknown = { sampled: 0, trained: null, steps: null };
    expect(rl.stages).toEqual({
      all: ["1-synth", "2-sft", "3-rl"],
      planned: "3-rl",
      work: [
        { name: "1-synth", do: "synth", steps: 0, sampled: null, trained: 0 },
        { name: "2-sft", do: "sft", ...unknown },
        // 7 steps of 16 trajectories, each of at most 5 × 48 written and 500 trained tokens.
        { name: "3-rl", do: "train", steps: 7, sampled: 7 * 16 * 240, trained: 7 * 16 * 500 },
      ],
    });
    expect(rl.batch).toMatchObject({ stage: "train", steps: 7 });
    // Of several that reinforce, the one that holds most, wherever it stands.
    const most = await staged(
      "[{ do: train, name: short, set: { engine.slots: 1 } }, { do: train, name: long }, { do: train, name: end, set: { engine.slots: 1 } }]",
    );
    expect(most.stages?.planned).toBe("2-long");
    const repeated = await staged("[{ repeat: 3, stages: [{ do: synth }, { do: train }] }]");
    expect(repeated.stages?.planned).toBe("2-train");
    const file = join(folder, "samples.jsonl");
    writeFileSync(file, "{}\n".repeat(70));
    const sft = await staged(`[{ do: synth }, { do: sft, set: { sft.data: ${file} } }]`);
    expect(sft.stages?.planned).toBe("2-sft");
    expect(sft.batch).toMatchObject({ stage: "sft", steps: 3 });
    await expect(staged("[{ do: synth }]")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /none of its stages is train or sft/),
    );
    expect((await planned()).stages).toBeNull();
  });

  it("does not exist for a recipe that trains nothing", async () => {
    const all = await resolved([], written);
    const own = await plannedPolicy({ from: model });
    await expect(plannedRun(all, own)).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /own\.yaml: has neither "algorithm" nor "sft"/),
    );
  });
});

describe("the longest sequence", () => {
  const longest = async (sets: readonly string[], positions = 32_768) =>
    longestSequence((await resolved(sets)).settings, positions);

  it("is the context's budget where messages and observations come to more", async () => {
    expect(await longest([])).toMatchObject({
      tokens: 500,
      bound: "context",
      messages: { count: 5, each: 48, tokens: 240 },
      observations: { count: 4, each: 120 },
    });
  });

  it("is what the model has positions for, less one, where that is less", async () => {
    expect(await longest([], 256)).toMatchObject({ tokens: 255, bound: "positions" });
  });

  it("is the sum where that is less than both: an assumed prompt, messages and observations", async () => {
    const sets = ["budgets.0.limit=1"];
    // 30 characters of prompt and a question: 110 tokens; 2 × 48 written, 1 × 120 shown.
    expect(await longest(sets)).toMatchObject({ tokens: 110 + 96 + 120, bound: "turns" });
    expect(await longest([...sets, "strategy=direct"])).toMatchObject({ tokens: 110 + 48 });
    expect(await longest([...sets, "strategy=rag"])).toMatchObject({ tokens: 110 + 48 + 120 });
  });
});

describe("the memory of a plan", () => {
  it("fits a budget that is at least its total", async () => {
    const { memory } = await planned();
    expect(await planned([], memory.total)).toMatchObject({
      memory: { fits: true },
      fitting: null,
    });
  });

  it("over its budget names the settings that fit, and these do", async () => {
    const sets = ["engine.microBatchTokens=16384"];
    const { memory } = await planned(sets);
    const over = await planned(sets, memory.total - 1);
    expect(over.memory.fits).toBe(false);
    expect(over.fitting?.settings).toEqual({ "engine.microBatchTokens": 8192 });
    const flags = Object.entries(over.fitting?.settings ?? {}).map(([k, v]) => `${k}=${v}`);
    const again = await planned([...sets, ...flags], memory.total - 1);
    expect(again.memory).toMatchObject({ fits: true, total: over.fitting?.forecast.total });
  });

  it("over its budget names frozen weights as they are stored, where that is in 16 bits", async () => {
    const sets = [
      ...["policy.from=Qwen/Qwen2.5-0.5B", "policy.lora.rank=8", "engine.recompute=true"],
      ...["engine.microBatchTokens=512", "engine.slots=1"],
    ];
    const { memory } = await planned(sets);
    const over = await planned(sets, memory.total - 100e6);
    expect(over.fitting?.settings).toEqual({ "engine.frozenWeights": "auto" });
    const again = await planned([...sets, "engine.frozenWeights=auto"]);
    expect(again.memory.total).toBe(over.fitting?.forecast.total);
    expect(again.model.frozen).toEqual({ held: "bfloat16", stored: "BF16" });
    // 494 million numbers, nearly all of them in matrices; what is widened at a time is taken off.
    expect(memory.total - again.memory.total).toBeGreaterThan(0.55e9);
  });

  it("has a reference where KL is in the loss", async () => {
    const weights = async (klCoef: number) =>
      (await planned([`algorithm.klCoef=${klCoef}`])).memory.parts[0]?.bytes ?? 0;
    expect(await weights(0.001)).toBe(2 * (await weights(0)));
  });

  it("has no budget on a device whose memory is not known", async () => {
    expect((await planned(["engine.device=webgpu"])).memory).toMatchObject({
      budget: null,
      fits: null,
    });
  });
});

describe("a planned model", () => {
  it("needs its config.json alone", async () => {
    const { config } = await plannedPolicy({ from: model });
    expect(parameterCount(config)).toBe(parameterCount(tinyConfig));
  });

  it("is a fresh one where the recipe has its shape", async () => {
    const fresh = {
      hiddenSize: 32,
      layers: 1,
      heads: 2,
      kvHeads: 1,
      headDim: 16,
      intermediateSize: 64,
      maxPositions: 128,
    };
    const { from, config } = await plannedPolicy({ from: "base", fresh });
    expect({ from, hidden: config.hiddenSize }).toEqual({ from: "fresh", hidden: 32 });
    expect(config.vocabSize % 16).toBe(0);
    const lake = await plannedPolicy({ fresh }, ["environment=frozen-lake"]);
    // All share one vocabulary, so that one checkpoint can be fine-tuned for any of them.
    expect(lake.config.vocabSize).toBe(config.vocabSize);
  });

  it("is refused where it is neither here nor known", async () => {
    await expect(plannedPolicy({ from: "nobody/has-this" })).rejects.toThrow(
      errorWith("PLAN_MODEL_ABSENT", /nobody\/has-this: is not in .*--model/),
    );
    await expect(plannedPolicy({ from: "/no/such/folder" })).rejects.toThrow(
      errorWith("MODEL_NAME"),
    );
  });
});

describe("published shapes", () => {
  it.each(publishedShapes.map((shape) => [shape.name, shape] as const))(
    "%s has as many parameters as its publisher counts",
    (_, { config, parameters }) => {
      expect(parameterCount(config)).toBe(parameters);
    },
  );
});

describe("an amount of memory", () => {
  it("is a number with its unit", () => {
    expect(parseMemory("24GB", "--memory")).toBe(24e9);
    expect(parseMemory("1.5 gib", "--memory")).toBe(1.5 * 2 ** 30);
  });

  it.each(["24", "GB", "0GB", "-1GB", "24XB", ""])("is not %j", (text) => {
    expect(() => parseMemory(text, "--memory")).toThrow(errorWith("RECIPE_BAD_VALUE", "e.g. 24GB"));
  });
});
