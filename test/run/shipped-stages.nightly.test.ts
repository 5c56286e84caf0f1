import { describe, expect, it } from "vitest";
import { stagedRecipes, throughItsStages } from "../helpers/staged-recipes.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const { further } = await stagedRecipes();

describe("every other recipe", () => {
  it.each(further)("%s goes through its stages at the smoke tier", async (name) => {
    await throughItsStages(name, folder);
    expect.hasAssertions();
  });
});
