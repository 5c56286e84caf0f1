import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { plannableStages } from "../../src/run/plan/planned-work.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

it("a stage of a plugin says itself what it does", async () => {
  const file = join(temporaryFolder(), "noting.mjs");
  writeFileSync(
    file,
    `import { defineStage } from ${JSON.stringify(join(packageRoot, "dist", "index.js"))};
export default defineStage({
  name: "noting", summary: "A stage.",
  run: async () => ({ policy: null }),
  plan: () => ({ steps: 7, sampled: 1, trained: 2 }),
});`,
  );
  const stages = { key: "stages", value: [{ do: "noting" }, { do: "train" }], origin: "test" };
  const options = { tier: "smoke", plugins: [file], overrides: [stages] };
  const [planned] = await plannableStages(await resolveRecipe("search-r1", options), 1024);
  expect(planned?.stages?.work[0]).toEqual({
    ...{ name: "1-noting", do: "noting" },
    ...{ steps: 7, sampled: 1, trained: 2 },
  });
});
