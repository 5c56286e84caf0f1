import { describe, expect, it } from "vitest";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { errorWith } from "../../helpers/error-with.ts";
import "../../helpers/all-parts.ts";

const recipe = await loadRecipe("search-r1");

function check(...sets: string[]): unknown {
  const overrides = sets.map(parseSet);
  return checkSettings(settingsSchema, resolveSettings(recipe, { tier: "smoke", overrides }));
}

const TAGS = "environment.protocol={ name: tags, callTags: { look: find } }";
const LIMIT = "{ scope: trajectory, unit: calls, tool: look, limit: 2, onExhausted: notice }";

describe("a setting that names a tool", () => {
  it.each([
    ["environment.protocol.callTags.look", TAGS],
    ["budgets.0.tool", `budgets=[${LIMIT}]`],
    ["evaluation.budgets.0.tool", `evaluation.budgets=[${LIMIT}]`],
    ["evaluation.sets.far.budgets.0.tool", `evaluation.sets.far.budgets=[${LIMIT}]`],
    ["evaluation.sets.far.environment.protocol.callTags.look", `evaluation.sets.far.${TAGS}`],
  ])("is refused at %s where the environment has no such tool", (key, set) => {
    expect(() => check(set)).toThrow(
      errorWith("PART_UNKNOWN", `${key} is "look"; the environment has no such tool.`),
    );
  });

  it("takes a tool by the name that the policy calls, of its own environment", () => {
    const named = "environment.tools=[{ name: corpus-search, as: look, topK: 1 }]";
    expect(() => check(named, TAGS, `budgets=[${LIMIT}]`)).not.toThrow();
    expect(() =>
      check(`evaluation.sets.far.${named}`, `evaluation.sets.far.${TAGS}`),
    ).not.toThrow();
  });
});
