import { describe, expect, it } from "vitest";
import { inequalities, kindOf } from "../../src/experiment/claim-kind.ts";
import { loadRecipe } from "../../src/run/settings/recipe-file.ts";
import { armOverrides, loadSettings, resolveSettings } from "../../src/run/settings/settings.ts";
import { type Settings, settingsSchema } from "../../src/run/settings/settings-schema.ts";

/** A claim of a shipped recipe, and the settings of its arms at the mini tier. */
async function claimOf(name: string, id: string) {
  const recipe = await loadRecipe(name);
  const claim = recipe.claims.tests.find((each) => each.id === id);
  if (claim === undefined) throw new Error(`no claim ${id}`);
  const settings = new Map<string, Settings>();
  for (const arm of claim.arms) {
    const overrides = armOverrides(recipe, { tier: "mini", claim, arm });
    const resolved = resolveSettings(recipe, { tier: "mini", overrides });
    settings.set(arm.name, (await loadSettings(settingsSchema, resolved)).settings);
  }
  const settingsOf = (arm: string): Settings => {
    const found = settings.get(arm);
    if (found === undefined) throw new Error(`no arm ${arm}`);
    return found;
  };
  return { claim, settingsOf };
}

describe("kindOf", () => {
  it.each([
    ["search-r1", "masking-helps", "method"],
    // One arm is not trained.
    ["search-r1", "search-beats-static-rag", "construction"],
    // None is: ways to answer are compared.
    ["corag", "chains-beat-answers", "method"],
    // After against before training.
    ["r1-searcher", "first-stage-makes-searches", "construction"],
    ["start", "hint-rft-beats-rft", "method"],
  ] as const)("of %s, %s is %s", async (recipe, id, kind) => {
    const { claim, settingsOf } = await claimOf(recipe, id);
    expect(kindOf(claim, settingsOf)).toBe(kind);
    const other = kind === "method" ? "construction" : "method";
    expect(kindOf({ ...claim, kind: other }, settingsOf)).toBe(other);
  });
});

describe("inequalities", () => {
  it("are none where arms differ in the method alone", async () => {
    const { claim, settingsOf } = await claimOf("search-r1", "masking-helps");
    expect(inequalities(claim, settingsOf)).toEqual([]);
  });

  it("name the questions that arms learn from, rollouts and bases", async () => {
    const ppo = await claimOf("search-r1", "masking-helps");
    const settingsOf = (arm: string): Settings => {
      const own = ppo.settingsOf(arm);
      if (arm !== "masked") return own;
      const algorithm = { ...own.algorithm, promptsPerStep: 64, groupSize: 1, steps: 40 } as never;
      return { ...own, algorithm, policy: { ...own.policy, from: "other" } };
    };
    const { from } = ppo.settingsOf("unmasked").policy;
    expect(inequalities(ppo.claim, settingsOf)).toEqual([
      { what: "base policy", arms: { masked: "other", unmasked: from } },
      { what: "questions learned from", arms: { masked: "2560", unmasked: "320" } },
    ]);
  });

  it("do not count rollouts of arms that learn from samples alone", async () => {
    const { claim, settingsOf } = await claimOf("start", "hint-rft-beats-rft");
    const [first] = claim.arms;
    const mixed = (arm: string): Settings =>
      arm === first?.name ? { ...settingsOf(arm), stages: undefined } : settingsOf(arm);
    expect(inequalities(claim, mixed)).toEqual([]);
  });

  it("do not count rollouts of arms that have none", async () => {
    const { claim, settingsOf } = await claimOf("search-r1", "search-beats-static-rag");
    expect(inequalities(claim, settingsOf)).toEqual([]);
  });
});
