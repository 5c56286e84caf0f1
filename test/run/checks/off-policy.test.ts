import { recordOf } from "../../../src/run/settings/resolved-yaml.ts";
import { describe, expect, it } from "vitest";
import { checkBudgets } from "../../../src/run/checks/check-budgets.ts";
import { requireAheadFits } from "../../../src/run/checks/off-policy.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { errorWith } from "../../helpers/error-with.ts";
import "../../helpers/all-parts.ts";

const AHEAD = "algorithm.maxStepsOffPolicy=1";
const REMOTE = ["engine.name=tinker", "engine.url=http://127.0.0.1:1", "policy.lora={}"];

async function resolved(...sets: string[]) {
  const recipe = await loadRecipe("search-r1");
  const overrides = sets.map(parseSet);
  return checkSettings(settingsSchema, resolveSettings(recipe, { tier: "smoke", overrides }));
}

describe("asynchronous rollouts", () => {
  it("are refused on an engine that cannot sample beside its training", async () => {
    const { settings } = await resolved(AHEAD);
    expect(() => {
      requireAheadFits(settings);
    }).toThrow(
      errorWith(
        "ENGINE_UNFIT",
        /^algorithm.maxStepsOffPolicy is 1: the engine \(engine.name: local\) cannot sample .* Set it to 0, or use engine.name: tinker at another server/,
      ),
    );
    requireAheadFits((await resolved()).settings);
    requireAheadFits((await resolved(AHEAD, ...REMOTE)).settings);
  });

  it("are refused beside snapshots of the policy", async () => {
    const models = "models={ previous: { policy: snapshot, every: 2 } }";
    const { settings } = await resolved(AHEAD, ...REMOTE, models);
    expect(() => {
      requireAheadFits(settings);
    }).toThrow(errorWith("RECIPE_BAD_VALUE", /models.previous is a snapshot of the policy/));
  });

  it("are at most one step behind", async () => {
    await expect(resolved("algorithm.maxStepsOffPolicy=2")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /maxStepsOffPolicy.*1/),
    );
  });

  it.each([
    ["ratio to the sampler", [], null],
    ["truncated importance sampling", ["oldLogprobs=recomputed", "importanceSamplingCap=2"], null],
    ["CISPO", ["loss={ name: cispo }"], null],
    ["a recomputed denominator alone", ["oldLogprobs=recomputed"], /compares the trainer with its/],
    ["GSPO, recomputed", ["oldLogprobs=recomputed", "loss={ name: gspo }"], /the loss gspo comp/],
    ["REINFORCE", ["loss={ name: policy-gradient, ratio: none }"], /has no ratio to the policy/],
    ["tokens that nobody sampled", ["lossOn=[policy, environment]"], /compares the trainer/],
  ])("warn where nothing corrects for the step between: %s", async (_, sets, message) => {
    const own = sets.map((set) => `algorithm.${set}`);
    const findings = async (...given: string[]) => {
      const read = await resolved(...given);
      return checkBudgets(read.settings, recordOf(read), null);
    };
    const found = await findings(AHEAD, ...REMOTE, ...own);
    const stale = found.filter(({ key }) => key === "algorithm.maxStepsOffPolicy");
    expect(stale.map((each) => [each.severity, each.origin])).toEqual(
      message === null ? [] : [["warning", "--set"]],
    );
    if (message !== null) expect(stale[0]!.message).toMatch(message);
    const off = await findings(...REMOTE, ...own);
    expect(off.filter(({ key }) => key === "algorithm.maxStepsOffPolicy")).toEqual([]);
  });

  it("warn as well where a sampler keeps rollouts for a later step", async () => {
    const sampler = "algorithm.sampler={ name: screen-continue, screen: 1 }";
    const found = async (...sets: string[]) => {
      const read = await resolved(sampler, ...sets);
      const all = checkBudgets(read.settings, recordOf(read), null);
      return all.flatMap(({ key, message }) => (key === "algorithm.sampler" ? message : []));
    };
    expect(await found()).toEqual([]);
    expect(await found("algorithm.oldLogprobs=recomputed")).toEqual([
      expect.stringMatching(/^screen-continue keeps .* compares the trainer with itself/),
    ]);
  });
});
