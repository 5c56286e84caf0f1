import { describe, expect, it } from "vitest";
import { stagedRecipes, throughItsStages } from "../helpers/staged-recipes.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const { first } = await stagedRecipes();

describe("a recipe of each kind", () => {
  it.each(first)("%s goes through its stages at the smoke tier", async (name) => {
    await throughItsStages(name, folder);
    expect.hasAssertions();
  });
});
