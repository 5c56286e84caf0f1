import { describe, expect, it } from "vitest";
import { retrievers } from "../../../src/retrieval/index.ts";
import type { TaskAnnotations } from "../../../src/trajectory/task.ts";
import { contextOf, listed, passagesOf, shown } from "../../helpers/listed-retriever.ts";
import { task } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const part = retrievers.get("oracle", "test");
const corpus = passagesOf(..."abcde".split(""));
const contexts = (annotations: TaskAnnotations) => ({
  contexts: [{ task: { ...task, annotations } }],
});

describe("oracle", () => {
  it("gives the asker's gold passages in the order of the chain, then nothing", async () => {
    const retriever = await part.open({}, contextOf([], corpus));
    const asked = contexts({ supportingPassages: ["d", "missing", "b", "d"] });
    expect(shown((await retriever.search(["rain"], 5, asked))[0])).toEqual(["d 1", "b 0.5"]);
    expect(shown((await retriever.search(["snow"], 1, asked))[0])).toEqual(["d 1"]);
  });

  it("looks in the task's own context first, and needs no corpus then", async () => {
    const own = { id: "b", title: "own", text: "own text" };
    const asked = contexts({ supportingPassages: ["b", "d"], context: [own] });
    const withCorpus = await part.open({}, contextOf([], corpus));
    const without = await part.open({}, contextOf([]));
    expect(await withCorpus.search(["rain"], 5, asked)).toEqual([
      [
        { ...own, score: 1 },
        { ...corpus[3], score: 0.5 },
      ],
    ]);
    expect(await without.search(["rain"], 5, asked)).toEqual([[{ ...own, score: 1 }]]);
  });

  it("finds nothing without an asker or for a task without gold", async () => {
    const retriever = await part.open({}, contextOf([], corpus));
    expect(await retriever.search(["rain"], 5)).toEqual([[]]);
    expect(await retriever.search(["rain"], 5, contexts({}))).toEqual([[]]);
  });

  it("fills up from another retriever, each passage once", async () => {
    const inner = listed("abc".split(""));
    const retriever = await part.open({ of: "none" }, contextOf([inner], corpus));
    const asked = contexts({ supportingPassages: ["b"] });
    expect(shown((await retriever.search(["rain"], 3, asked))[0])).toEqual([
      "b 1",
      "a 0.5",
      "c 0.3333",
    ]);
    expect(shown((await retriever.search(["rain"], 2))[0])).toEqual(["a 1", "b 0.5"]);
    await retriever.close();
    expect(inner.closed).toBe(true);
  });

  it("has another fingerprint for another corpus or filler, and says what it reads", async () => {
    const all = await Promise.all([
      part.open({}, contextOf([], corpus)),
      part.open({}, contextOf([], corpus.slice(1))),
      part.open({}, contextOf([])),
      part.open({ of: "none" }, contextOf([listed(["a"])], corpus)),
    ]);
    expect(new Set(all.map(({ fingerprint }) => fingerprint)).size).toBe(4);
    expect(all[0].reads).toEqual(["supporting-passages"]);
  });
});
