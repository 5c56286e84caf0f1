import { describe, expect, it } from "vitest";
import { protocols } from "../../../src/env/protocols/index.ts";
import { resolveRecipe } from "../../../src/run/settings/resolve-recipe.ts";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import { callTool } from "../../helpers/search-world.ts";

const search = (input: string, options = {}, how = {}) =>
  callTool({ name: "corpus-search", ...options }, input, how);

describe("corpus-search", () => {
  it("shows the best passages, one line each, and says which they are", async () => {
    expect(await search("capital Norway", { topK: 2 })).toEqual({
      tool: "search",
      text: "Doc 1(Title: Oslo) Oslo is the capital of Norway.\nDoc 2(Title: Lima) Lima is the capital of Peru.\n",
      passageIds: ["oslo", "lima"],
    });
  });

  it("shows passages to the letter as the client of Search-R1 does", async () => {
    const observation = await search("capital Norway", { topK: 2, show: "search-r1" });
    const protocol = protocols.get("search-r1", "test").create({});
    expect(protocol.renderObservations([observation])).toBe(
      '\n\n<information>Doc 1(Title: "Oslo") Oslo is the capital of Norway.\nDoc 2(Title: "Lima") Lima is the capital of Peru.</information>\n\n',
    );
  });

  it("shows passages that way in the published settings alone", async () => {
    for (const [tier, show] of [
      ["paper", "search-r1"],
      ["mini", "plain"],
    ] as const) {
      const { settings } = await resolveRecipe("search-r1", { tier });
      expect(settings.environment).toMatchObject({ tools: [{ name: "corpus-search", show }] });
    }
  });

  it("shows three passages unless told otherwise", async () => {
    expect((await search("capital Norway Bergen")).passageIds).toHaveLength(3);
  });

  it("says so when nothing is found, which is no problem of the message", async () => {
    expect(await search("Oslo", {}, { retriever: noneRetriever() })).toEqual({
      tool: "search",
      text: "Nothing was found.",
      passageIds: [],
    });
  });

  it("makes a problem of an empty query, without a search", async () => {
    expect(await search("")).toMatchObject({ problem: { code: "empty-query" } });
  });
});
