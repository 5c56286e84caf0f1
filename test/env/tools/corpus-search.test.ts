import { describe, expect, it } from "vitest";
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
