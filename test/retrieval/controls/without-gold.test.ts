import { describe, expect, it } from "vitest";
import { retrievers } from "../../../src/retrieval/index.ts";
import { contextOf, listed, shown } from "../../helpers/listed-retriever.ts";
import { task } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const open = () =>
  retrievers
    .get("without-gold", "test")
    .open({ of: "none" }, contextOf([listed("abcde".split(""))]));
const asker = (...supportingPassages: string[]) => {
  return { task: { ...task, annotations: { supportingPassages } } };
};

describe("without-gold", () => {
  it("leaves out each asker's gold passages and lets later hits move up", async () => {
    const retriever = await open();
    const contexts = [asker("a", "c"), asker(), asker("e", "elsewhere")];
    const found = await retriever.search(["x", "y", "z"], 3, { contexts });
    expect(found.map(shown)).toEqual([
      ["b 4", "d 2", "e 1"],
      ["a 5", "b 4", "c 3"],
      ["a 5", "b 4", "c 3"],
    ]);
  });

  it("leaves nothing out without an asker", async () => {
    expect(shown((await (await open()).search(["x"], 2))[0])).toEqual(["a 5", "b 4"]);
  });
});
