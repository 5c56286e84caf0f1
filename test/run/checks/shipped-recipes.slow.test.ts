import { recordOf } from "../../../src/run/settings/resolved-yaml.ts";
import { describe, expect, it } from "vitest";
import { checkClaimMetrics } from "../../../src/experiment/measured-runs.ts";
import { checkBudgets } from "../../../src/run/checks/check-budgets.ts";
import { claimsAt } from "../../../src/run/claims.ts";
import { ignoredSettings } from "../../../src/run/checks/ignored-settings.ts";
import { requireTrainable } from "../../../src/run/checks/require-trainable.ts";
import { loadRecipe, shippedRecipes, tiersOf } from "../../../src/run/settings/recipe-file.ts";
import {
  armOverrides,
  checkSettings,
  type Override,
  resolveSettings,
} from "../../../src/run/settings/settings.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import "../../helpers/all-parts.ts";

describe("a shipped recipe", () => {
  it.each(shippedRecipes())(
    "%s passes `recipes check`, and has no error and no ignored setting in any tier or arm",
    async (name) => {
      const recipe = await loadRecipe(name);
      for (const tier of tiersOf(recipe)) {
        const check = (overrides: Override[]) => {
          const own = checkSettings(settingsSchema, resolveSettings(recipe, { tier, overrides }));
          expect(ignoredSettings(own)).toEqual([]);
          const findings = checkBudgets(own.settings, recordOf(own), null);
          expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
          return own;
        };
        await requireTrainable(check([]));
        const claimed = claimsAt(recipe, tier);
        for (const claim of claimed.claims.tests)
          for (const arm of claim.arms) {
            const { settings } = check(armOverrides(recipe, { tier, claim, arm }));
            checkClaimMetrics(claimed, { claim, arm: arm.name }, settings);
          }
      }
    },
  );
});
