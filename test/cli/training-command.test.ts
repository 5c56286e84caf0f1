import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { trainingSettings } from "../../src/cli/training-command.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const run = join(folder, "run");
mkdirSync(run);
writeFileSync(
  join(run, "recipe.resolved.yaml"),
  "summary: made\nbase: { seed: 7, algorithm: { name: grpo, groupSize: 4 } }\ntiers: { smoke: {} }\n",
);
const note = (): undefined => undefined;

describe("a training command with --resume", () => {
  it("takes recipe, tier and folder from the run that is named, as argument or by --out", async () => {
    const found = { resolved: { tier: "smoke", settings: { seed: 7 } }, out: run };
    expect(await trainingSettings(run, { resume: true }, { note })).toMatchObject(found);
    expect(await trainingSettings(undefined, { resume: true, recipe: run }, { note })).toMatchObject(found); // prettier-ignore
    expect(await trainingSettings(undefined, { resume: true, out: run }, { note })).toMatchObject(found); // prettier-ignore
  });

  it("still takes a recipe, with its own run folder", async () => {
    const { resolved, out } = await trainingSettings("search-r1", { resume: true, out: run, tier: "smoke" }, { note }); // prettier-ignore
    expect([resolved.recipe.name, out]).toEqual(["search-r1", run]);
    const asked = trainingSettings(undefined, { resume: true }, { note });
    await expect(asked).rejects.toThrow(errorWith("USAGE", "No recipe is given"));
  });
});
