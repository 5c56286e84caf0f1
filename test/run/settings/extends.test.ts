import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { requireTrainable } from "../../../src/run/checks/require-trainable.ts";
import { loadRecipe, selectTier, tiersOf } from "../../../src/run/settings/recipe-file.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { checkSettings, claimsBase, resolveSettings } from "../../../src/run/settings/settings.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
const file = (name: string): string => join(folder, name);

const BELOW = `
summary: below
base: { seed: 1, policy: { from: ./model }, algorithm: { name: grpo, groupSize: 4, klCoef: 0.1 } }
tiers: { mini: { algorithm: { groupSize: 8 } }, smoke: {} }
claims: { base: { mini: { seed: 5, sampling: { topP: 0.5 } } } }
`;

const ABOVE = `
summary: above
extends: shared/below.yaml
base: { algorithm: { klCoef: 0.2 } }
tiers: { mini: {} }
claims: { base: { mini: { seed: 6 } } }
`;

beforeAll(() => {
  mkdirSync(file("shared"));
  writeFileSync(file("shared/below.yaml"), BELOW);
  writeFileSync(file("above.yaml"), ABOVE);
});

describe("extends", () => {
  it("lays the other recipe's base and tier below, with the file of each value", async () => {
    const recipe = await loadRecipe(file("above.yaml"));
    const resolved = resolveSettings(recipe, { tier: "mini" });
    const { settings, origins } = checkSettings(settingsSchema, resolved);
    expect(settings).toMatchObject({
      seed: 1,
      algorithm: { name: "grpo", groupSize: 8, klCoef: 0.2 },
    });
    expect(origins.get("algorithm.klCoef")).toBe(`${file("above.yaml")}:4`);
    expect(origins.get("algorithm.groupSize")).toBe(`${file("shared/below.yaml")}:4 (tier mini)`);
    // Its paths start from its own folder.
    expect(resolve(settings.policy.from)).toBe(file("shared/model"));
  });

  it("lays claims.base of both over the tiers of both", async () => {
    const recipe = await loadRecipe(file("above.yaml"));
    const overrides = claimsBase(recipe, "mini");
    const { settings } = resolveSettings(recipe, { tier: "mini", overrides });
    expect(settings).toMatchObject({ seed: 6, sampling: { topP: 0.5 } });
  });

  it("removes a key of the other recipe by null, and keeps a null that is a value", async () => {
    const base =
      "summary: below\nbase: { sampling: { topP: 0.5 }, checkpoints: { keep: 2 }, algorithm: { name: grpo, klCoef: 0.1 } }\ntiers: { mini: {} }\n";
    writeFileSync(file("set.yaml"), base);
    writeFileSync(
      file("unset.yaml"),
      "summary: above\nextends: ./set.yaml\nbase: { sampling: { topP: null }, checkpoints: { keep: null }, algorithm: null }\ntiers: { mini: {} }\n",
    );
    const recipe = await loadRecipe(file("unset.yaml"));
    const { settings, origins } = checkSettings(
      settingsSchema,
      resolveSettings(recipe, { tier: "mini" }),
    );
    expect(settings).toMatchObject({ sampling: { topP: 1 }, checkpoints: { keep: null } });
    expect(settings.algorithm).toBeUndefined();
    expect(origins.get("sampling.topP")).toBe(`${file("unset.yaml")}:3`);
  });

  it("leaves null for a key that does not exist an error", async () => {
    writeFileSync(file("wrong.yaml"), "summary: s\nbase: { smpling: null }\ntiers: { mini: {} }\n");
    const recipe = await loadRecipe(file("wrong.yaml"));
    const resolved = resolveSettings(recipe, { tier: "mini" });
    expect(() => checkSettings(settingsSchema, resolved)).toThrow(errorWith("RECIPE_UNKNOWN_KEY"));
  });

  it("takes a key of the other recipe that the own one switches off for intended", async () => {
    const own = (sets: string) =>
      `summary: above\nextends: ./kl.yaml\nbase: { algorithm: { ${sets} } }\ntiers: { mini: {} }\n`;
    writeFileSync(
      file("kl.yaml"),
      "summary: below\nbase: { algorithm: { name: grpo, klCoef: 0.1, klEstimator: k2 } }\ntiers: { mini: {} }\n",
    );
    writeFileSync(file("off.yaml"), own("klCoef: 0"));
    writeFileSync(file("contradiction.yaml"), own("klCoef: 0, klEstimator: k1"));
    const check = async (name: string) => {
      const resolved = resolveSettings(await loadRecipe(file(name)), { tier: "mini" });
      await requireTrainable(checkSettings(settingsSchema, resolved));
    };
    await expect(check("off.yaml")).resolves.toBeUndefined();
    await expect(check("contradiction.yaml")).rejects.toThrow(
      errorWith("SETTING_IGNORED", /contradiction\.yaml:3: algorithm\.klEstimator has no effect/),
    );
  });

  it("takes a shipped recipe by its name", async () => {
    writeFileSync(
      file("own.yaml"),
      "summary: own\nextends: search-r1\nbase: {}\ntiers: { mini: {} }\n",
    );
    const recipe = await loadRecipe(file("own.yaml"));
    expect(recipe.below?.name).toBe("search-r1");
    expect(recipe.claims.tests).toEqual([]);
  });

  it("has the other recipe's tiers where it states neither base nor tiers", async () => {
    writeFileSync(
      file("bare.yaml"),
      "summary: bare\nextends: shared/below.yaml\nclaims: { base: { smoke: { seed: 2 } } }\n",
    );
    const recipe = await loadRecipe(file("bare.yaml"));
    expect(tiersOf(recipe)).toEqual(["smoke", "mini"]);
    const { settings } = resolveSettings(recipe, { tier: selectTier(recipe, undefined) });
    expect(settings).toMatchObject({ algorithm: { groupSize: 8, klCoef: 0.1 } });
    expect(() => selectTier(recipe, "paper")).toThrow("this recipe has no such tier");
    writeFileSync(
      file("stray.yaml"),
      "summary: x\nextends: shared/below.yaml\nclaims: { base: { paper: {} } }\n",
    );
    await expect(loadRecipe(file("stray.yaml"))).rejects.toThrow(
      errorWith(
        "RECIPE_BAD_VALUE",
        /claims\.base\.paper is of a tier that the recipe does not have/,
      ),
    );
    writeFileSync(file("alone.yaml"), "summary: x\n");
    await expect(loadRecipe(file("alone.yaml"))).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /base is missing/),
    );
  });

  it("refuses unknown recipes and circles, with the place", async () => {
    const extending = (name: string): string =>
      `summary: x\nextends: ${name}\nbase: {}\ntiers: { mini: {} }\n`;
    writeFileSync(file("unknown.yaml"), extending("serch-r1"));
    await expect(loadRecipe(file("unknown.yaml"))).rejects.toThrow(
      errorWith("RECIPE_MISSING", /unknown\.yaml:2: extends is "serch-r1"; .*"search-r1"/),
    );
    writeFileSync(file("a.yaml"), extending("./b.yaml"));
    writeFileSync(file("b.yaml"), extending("./a.yaml"));
    await expect(loadRecipe(file("a.yaml"))).rejects.toThrow(
      errorWith(
        "RECIPE_BAD_VALUE",
        /b\.yaml:2: extends is "\.\/a\.yaml", so the recipe extends itself: a\.yaml → b\.yaml → a\.yaml\./,
      ),
    );
  });
});
