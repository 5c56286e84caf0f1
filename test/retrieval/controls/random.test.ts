import { describe, expect, it } from "vitest";
import { random } from "../../../src/retrieval/controls/random.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { contextOf, passagesOf, shown } from "../../helpers/listed-retriever.ts";

const corpus = passagesOf(..."abcdefghij".split(""));
const open = (options: object = {}, passages = corpus) =>
  random.open(options, contextOf([], passages));

describe("random", () => {
  it("gives a query the same passages whatever else was asked, and fewer as the beginning of more", async () => {
    const one = await open();
    const [hits] = await one.search(["rain"], 3);
    await one.search(["snow"], 10);
    expect(await one.search(["hail", "rain"], 5)).toEqual([
      (await (await open()).search(["hail"], 5))[0],
      [...hits!, expect.anything(), expect.anything()],
    ]);
    expect(shown(hits)).toMatchInlineSnapshot(`
      [
        "e 1",
        "h 0.5",
        "f 0.3333",
      ]
    `);
  });

  it("gives other queries and other seeds other passages, all of them equally often", async () => {
    const retriever = await open();
    const queries = Array.from({ length: 2000 }, (_, i) => `query ${i}`);
    const counts = new Map<string, number>();
    for (const hits of await retriever.search(queries, 2)) {
      for (const { id } of hits) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    // 400 each are expected, with a deviation of 18.
    expect(counts.size).toBe(10);
    for (const count of counts.values()) expect(Math.abs(count - 400)).toBeLessThan(90);
    const other = await open({ seed: 1 });
    expect(await other.search(queries, 3)).not.toEqual(await retriever.search(queries, 3));
  });

  it("gives the whole corpus when asked for more than there is", async () => {
    const [hits] = await (await open()).search(["rain"], 50);
    expect(hits!.map(({ id }) => id).sort()).toEqual("abcdefghij".split(""));
  });

  it("has another fingerprint for another seed or corpus", async () => {
    const all = await Promise.all([open(), open({ seed: 1 }), open({}, corpus.slice(1))]);
    expect(new Set(all.map(({ fingerprint }) => fingerprint)).size).toBe(3);
  });

  it("needs a corpus", async () => {
    await expect(random.open({}, contextOf([]))).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "random searches a dataset's own passages"),
    );
  });
});
