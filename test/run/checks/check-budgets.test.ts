import { recordOf } from "../../../src/run/settings/resolved-yaml.ts";
import { describe, expect, it } from "vitest";
import type { BudgetFacts } from "../../../src/run/checks/budget-facts.ts";
import type { BudgetFinding } from "../../../src/run/checks/budget-finding.ts";
import { checkBudgets, requireSoundBudgets } from "../../../src/run/checks/check-budgets.ts";
import { ignoredSettings, requireHonoured } from "../../../src/run/checks/ignored-settings.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { errorWith } from "../../helpers/error-with.ts";
import "../../helpers/all-parts.ts";

async function resolved(...sets: string[]) {
  const recipe = await loadRecipe("search-r1");
  const overrides = sets.map(parseSet);
  return checkSettings(settingsSchema, resolveSettings(recipe, { tier: "smoke", overrides }));
}

/** Five messages of 48 tokens, four observations of 120, a context of 500. */
const facts: BudgetFacts = {
  maxPositions: 1024,
  questions: 16,
  tokens: { prompts: [15, 20], answers: [8, 10], observations: [60, 70, 80, 90], spelled: 0 },
};

async function found(given: BudgetFacts | null, ...sets: string[]): Promise<BudgetFinding[]> {
  const own = await resolved(...sets);
  return checkBudgets(own.settings, recordOf(own), given);
}

const tokens = (own: Partial<NonNullable<BudgetFacts["tokens"]>>): BudgetFacts => ({
  ...facts,
  tokens: { ...facts.tokens!, ...own },
});

describe("budgets held against each other", () => {
  it("are fine where all go together", async () => {
    expect(await found(facts, "budgets.3.limit=700")).toEqual([]);
  });

  it("name minibatches that are empty, or of unequal sizes", async () => {
    const [empty] = await found(null, "algorithm.minibatches=17");
    expect(empty).toMatchObject({
      severity: "error",
      key: "algorithm.minibatches",
      origin: "--set",
    });
    expect(empty?.message).toBe(
      "17 minibatches of 4 × 4 = 16 trajectories: 1 of them would be empty. At most 16.",
    );
    const [unequal] = await found(null, "algorithm.minibatches=3");
    expect(unequal?.severity).toBe("warning");
    expect(unequal?.message).toContain("some have 5, some 6");
    expect(unequal?.message).toContain("1, 2, 4, 8, 16 divide evenly");
  });

  it("name what leaves nothing to learn from", async () => {
    const keys = async (...sets: string[]) => (await found(null, ...sets)).map(({ key }) => key);
    expect(await keys("algorithm.groupSize=1")).toEqual(["algorithm.groupSize"]);
    expect(await keys("algorithm.groupSize=1", "strategy={name: tree-rollout}")).toEqual([]);
    const remax = "algorithm.advantage.name=remax";
    expect(await keys(remax)).toEqual(["algorithm.sampler"]);
    expect(await keys(remax, "algorithm.sampler=greedy-baseline")).toEqual([]);
    expect(await keys("algorithm.advantage.name=gae")).toEqual(["algorithm.advantage"]);
    const ppo = "algorithm={ name: ppo, promptsPerStep: 4 }";
    expect(await keys(ppo)).toEqual([]);
    expect(await keys(ppo, "algorithm.advantage=return")).toEqual(["algorithm.advantage"]);
    expect(await keys("sampling.temperature=0")).toEqual(["sampling.temperature"]);
    expect(await keys("rewards=[{ name: exact-match, weight: 0 }]")).toEqual(["rewards"]);
  });

  it("name a ratio between two distributions, where the loss has one of sampled log-probabilities", async () => {
    const keys = async (...sets: string[]) => (await found(null, ...sets)).map(({ key }) => key);
    const int8 = "engine.samplingWeights=int8";
    const [rounded] = await found(null, int8);
    expect(rounded).toMatchObject({ severity: "warning", key: "engine.samplingWeights" });
    expect(rounded?.message).toMatch(/^samplingWeights int8: .*oldLogprobs: recomputed/);
    expect(await keys(int8, "algorithm.oldLogprobs=recomputed")).toEqual([]);
    expect(await keys(int8, "algorithm={ name: reinforce }")).toEqual([]);
    // Both have the temperature, and neither what top-k and top-p leave.
    expect(await keys("sampling={ temperature: 1.2, topP: 0.9, topK: 5 }")).toEqual([]);
  });

  it("name a warm-up that is longer than the run", async () => {
    const rate =
      "algorithm.optimizer.learningRate={ schedule: constant, value: 1, unit: steps, warmup: 8 }";
    const [warmup] = await found(null, rate);
    // Two steps of two minibatches: half of the rate is reached.
    expect(warmup?.message).toContain("8 of 4 updates (2 steps × 1 × 2)");
    expect(warmup?.message).toContain("ends at 0.5 before it is warm");
  });

  it("name steps that have more questions than there are", async () => {
    const [twice] = await found({ ...facts, tokens: null, questions: 3 });
    expect(twice?.message).toContain("4 of 3 questions");
  });

  it("name observations that would be cut, and refuse those of which less than half is seen", async () => {
    const wide = "budgets.3.limit=4000";
    const [cut] = await found(tokens({ observations: [100, 110, 130, 140] }), wide);
    expect(cut?.severity).toBe("warning");
    expect(cut?.message).toContain("may have 120 tokens");
    expect(cut?.message).toContain("50 % would be cut. Allow 140");
    expect(cut?.message).toContain("takes the reply's closing tag as well");
    const own = [wide, "budgets.2.tool=search"];
    const [within] = await found(tokens({ observations: [100, 110, 130, 140] }), ...own);
    expect(within?.message).toMatch(/50 % would be cut.*\(topK\)\.$/);
    const [lost] = await found(tokens({ observations: [250, 300] }), wide);
    expect(lost?.severity).toBe("error");
  });

  it("name messages without room for an answer, and contexts without room for all turns", async () => {
    const wide = "budgets.3.limit=4000";
    expect((await found(tokens({ answers: [50, 60] }), wide))[0]).toMatchObject({
      severity: "error",
    });
    expect((await found(tokens({ answers: [10, 60] }), wide))[0]?.message).toContain("50 %");
    // 20 + 4 × 80 + 5 × 48 = 580; (500 − 20 − 48) / 128 = 3.4. Three of four: a notice.
    const [context] = await found(facts);
    expect(context).toMatchObject({ severity: "notice", key: "budgets" });
    expect(context?.message).toContain(
      "come to 580 tokens; the context's budget is 500, which holds 3",
    );
    const [tiny] = await found({ ...facts, maxPositions: 26 });
    expect(tiny?.message).toContain("the model's positions is 25");
    expect(tiny?.severity).toBe("error");
  });

  it("refuse a training only where there is an error", async () => {
    expect(() => {
      requireSoundBudgets([]);
    }).not.toThrow();
    const errors = await found(null, "algorithm.minibatches=17");
    expect(() => {
      requireSoundBudgets(errors);
    }).toThrow(errorWith("BUDGETS_UNFIT", /^algorithm\.minibatches \(--set\): 17 minibatches/));
  });
});

describe("settings that nothing would look at", () => {
  const ignored = async (...sets: string[]) =>
    ignoredSettings(await resolved(...sets)).map(({ key }) => key);

  it.each([
    [
      [
        "policy.fresh={ hiddenSize: 32, layers: 1, heads: 2, kvHeads: 1, headDim: 16, intermediateSize: 64, maxPositions: 128 }",
      ],
      "policy.fresh",
    ],
    [["engine.frozenWeights=float16"], "engine.frozenWeights"],
    [["algorithm.fixedLength=7"], "algorithm.fixedLength"],
    [["algorithm.klCoef=0", "algorithm.klEstimator=k1"], "algorithm.klEstimator"],
    [["algorithm={ name: reinforce, oldLogprobs: recomputed }"], "algorithm.oldLogprobs"],
    [
      ["algorithm={ loss: { name: policy-gradient, ratio: none }, oldLogprobs: recomputed }"],
      "algorithm.oldLogprobs",
    ],
    [["algorithm={ name: reinforce, clipHigh: 0.3 }"], "algorithm.clipHigh"],
    [["algorithm={ name: reinforce, dualClip: 3, ratio: none }"], "algorithm.dualClip"],
    [
      ["algorithm.loss={ name: policy-gradient, ratio: none, clipLow: 0.1 }"],
      "algorithm.loss.clipLow",
    ],
    [["algorithm={ loss: cross-entropy, entropyCoef: 0.1 }"], "algorithm.entropyCoef"],
    [["algorithm={ scale: none, advantage: return }"], "algorithm.scale"],
    [
      ["algorithm={ name: reinforce, baseline: none, advantage: leave-one-out }"],
      "algorithm.baseline",
    ],
    [["sampling.temperature=0", "sampling.topK=5"], "sampling.topK"],
    [
      ["evaluation.sampling.temperature=0", "evaluation.sampling.topP=0.5"],
      "evaluation.sampling.topP",
    ],
    [["strategy=direct", "evaluation.strategy=direct", "retriever=bm25"], "retriever"],
    [["evaluation.strategy=direct", "evaluation.retriever=bm25"], "evaluation.retriever"],
  ])("%j: %s", async (sets, key) => {
    expect(await ignored(...sets)).toEqual([key]);
  });

  it("are none where something looks at them, or a later layer switches them off on purpose", async () => {
    expect(await ignored()).toEqual([]);
    expect(await ignored("policy.lora.rank=2", "engine.frozenWeights=float16")).toEqual([]);
    expect(await ignored("algorithm={ name: reinforce, ratio: token, clipHigh: 0.3 }")).toEqual([]);
    expect(await ignored("algorithm.clipHigh=0.3", "algorithm.entropyCoef=0.1")).toEqual([]);
    // The recipe itself sets klEstimator.
    expect(await ignored("algorithm.klCoef=0")).toEqual([]);
    expect(await ignored("rewards=[{ name: token-f1, as: f1 }]", "reward=f1")).toEqual([]);
    expect(await ignored("rewards=[{ name: token-f1, weight: 2 }]")).toEqual([]);
  });

  it("end a run with where each was set", async () => {
    const own = await resolved("engine.frozenWeights=float16");
    expect(() => {
      requireHonoured(own);
    }).toThrow(
      errorWith(
        "SETTING_IGNORED",
        /^--set: engine\.frozenWeights has no effect, because policy\.lora is not set/,
      ),
    );
  });
});
