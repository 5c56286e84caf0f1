import { describe, expect, it } from "vitest";
import { corpusSearch } from "../../../src/env/tools/corpus-search.ts";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import { corpus, task } from "../../helpers/search-world.ts";

const context = { trajectoryId: "one", task, turn: 0, signal: new AbortController().signal };

describe("corpus-search", () => {
  it("shows the best passages, one line each, and says which they are", async () => {
    const tool = corpusSearch.create({ topK: 2 }, { retriever: corpus });
    const observation = await tool.call("capital Norway", context);
    expect(observation).toEqual({
      tool: "search",
      text: "Doc 1(Title: Oslo) Oslo is the capital of Norway.\nDoc 2(Title: Lima) Lima is the capital of Peru.\n",
      passageIds: ["oslo", "lima"],
    });
  });

  it("shows three passages unless told otherwise", async () => {
    const tool = corpusSearch.create({}, { retriever: corpus });
    expect((await tool.call("capital Norway Bergen", context)).passageIds).toHaveLength(3);
  });

  it("says so when nothing is found, which is no problem of the message", async () => {
    const tool = corpusSearch.create({}, { retriever: noneRetriever() });
    expect(await tool.call("Oslo", context)).toEqual({
      tool: "search",
      text: "Nothing was found.",
      passageIds: [],
    });
  });

  it("makes a problem of an empty query, without a search", async () => {
    const tool = corpusSearch.create({}, { retriever: corpus });
    expect(await tool.call("", context)).toMatchObject({ problem: { code: "empty-query" } });
  });
});
