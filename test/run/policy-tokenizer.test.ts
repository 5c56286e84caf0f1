import { expect, it } from "vitest";
import { policyTokenizer } from "../../src/run/policy-tokenizer.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";

async function tokenizerOf(recipe: string, overrides: Record<string, unknown> = {}) {
  const own = Object.entries(overrides).map(([key, value]) => ({ key, value, origin: "test" }));
  const { settings } = await resolveRecipe(recipe, { tier: "smoke", overrides: own });
  return policyTokenizer(settings);
}

it("is that of the fresh weights which a stage will make, with the environment's words", async () => {
  const tokenizer = await tokenizerOf("frozen-lake");
  expect(tokenizer?.encode("<move> left</move>")).toHaveLength(3);
});

it("is that of the parent of a base, which need not be made", async () => {
  const [base, literate] = [
    await tokenizerOf("search-r1", { "policy.from": "timid" }),
    await tokenizerOf("search-r1", { "policy.from": "literate" }),
  ];
  expect(base).not.toBeNull();
  expect(base?.encode("<search> Who founded it?")).toEqual(
    literate?.encode("<search> Who founded it?"),
  );
});

it("is unknown for a server's policy, and for a model that is not here", async () => {
  const endpoint = { baseUrl: "http://127.0.0.1:9/v1", model: "m" };
  expect(await tokenizerOf("search-r1", { "policy.endpoint": endpoint })).toBeNull();
  expect(await tokenizerOf("search-r1", { "policy.from": "nobody/absent" })).toBeNull();
});
