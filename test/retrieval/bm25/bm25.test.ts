import { describe, expect, it } from "vitest";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import type { Bm25Options } from "../../../src/retrieval/bm25/bm25-options.ts";
import { bm25Search } from "../../../src/retrieval/bm25/bm25-search.ts";
import { analyzers } from "../../../src/text/analyzer.ts";
import { naming } from "../../helpers/naming.ts";

const passages = [
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "Bergen", text: "A city in Norway with much rain." },
  { id: "c", title: "Lima", text: "The capital of Peru." },
  { id: "d", title: "Rain", text: "" },
];

/** A search over texts whose words are their terms. */
function searchOver(texts: string[], options: Bm25Options) {
  const passages = texts.map((text, i) => ({ id: String(i), title: "", text }));
  const { segments, parameters } = buildBm25(passages, { analyzer: "plain", ...options });
  const search = bm25Search(segments, parameters);
  return (terms: string[], k: number) => search.best(terms, k);
}

describe("bm25Search", () => {
  it("gives Lucene's scores on a case computed by hand", () => {
    // N = 2, both of length 2, so the length penalty is k1. "x": df 2, idf ln(1 + .5/2.5); "y": df 1, idf ln(1 + 1.5/1.5).
    const best = searchOver(["x y", "x x"], { k1: 0.9, b: 0.4 });
    const x = Math.log(1.2);
    const y = Math.log(2);
    const [only, ...others] = best(["y"], 5);
    expect(others).toEqual([]);
    expect(only?.position).toBe(0);
    expect(only?.score).toBeCloseTo(y / 1.9, 12);
    const both = best(["x", "y"], 5);
    expect(both.map((hit) => hit.position)).toEqual([0, 1]);
    expect(both[0]?.score).toBeCloseTo(x / 1.9 + y / 1.9, 12);
    expect(both[1]?.score).toBeCloseTo((2 * x) / 2.9, 12);
  });

  it("lets long passages pay by b", () => {
    // Lengths 1 and 3, mean 2: penalties k1·(1 − b + b/2) and k1·(1 − b + 3b/2).
    const texts = ["x", "x z w"];
    const idf = Math.log(1.2);
    const none = searchOver(texts, { k1: 2, b: 0 })(["x"], 2);
    for (const { score } of none) expect(score).toBeCloseTo(idf / 3, 12);
    expect(none[1]?.score).toBe(none[0]?.score);
    const full = searchOver(texts, { k1: 2, b: 1 })(["x"], 2);
    expect(full[0]?.score).toBeCloseTo(idf / (1 + 1), 12);
    expect(full[1]?.score).toBeCloseTo(idf / (1 + 3), 12);
  });

  it("counts a repeated query term as often as it is repeated", () => {
    const best = searchOver(["x", "y"], { k1: 0.9, b: 0.4 });
    expect(best(["x", "x"], 1)[0]?.score).toBeCloseTo(2 * (best(["x"], 1)[0]?.score ?? 0), 12);
  });

  it("breaks ties by corpus position, also where they cross the k-th place", () => {
    const best = searchOver(["x", "y", "x", "x"], { k1: 0.9, b: 0.4 });
    expect(best(["x"], 2).map((hit) => hit.position)).toEqual([0, 2]);
    expect(best(["x"], 9).map((hit) => hit.position)).toEqual([0, 2, 3]);
  });

  it("forgets one query before the next", () => {
    const best = searchOver(["x y", "y z", "z"], { k1: 0.9, b: 0.4 });
    const first = best(["y"], 3);
    best(["x", "z"], 3);
    expect(best(["y"], 3)).toEqual(first);
  });

  it("gives nothing for unknown terms, no terms, and k = 0", () => {
    const best = searchOver(["x"], { k1: 0.9, b: 0.4 });
    expect(best(["q"], 3)).toEqual([]);
    expect(best([], 3)).toEqual([]);
    expect(best(["x"], 0)).toEqual([]);
  });
});

describe("buildBm25", () => {
  it("answers every query in order with whole passages, best first", async () => {
    const retriever = buildBm25(passages);
    const [capital, rain, none] = await retriever.search(["capital of Norway?", "RAINS", "!"], 2);
    expect(capital?.map((hit) => hit.id)).toEqual(["a", "c"]);
    expect(capital?.[0]).toMatchObject({ title: "Oslo", text: "Oslo is the capital of Norway." });
    expect(rain?.map((hit) => hit.id)).toEqual(["d", "b"]);
    expect(none).toEqual([]);
  });

  it("changes its fingerprint with the corpus, the analyzer and the parameters, and with nothing else", () => {
    const fingerprints = [
      buildBm25(passages),
      buildBm25(passages.slice(1)),
      buildBm25(passages, { analyzer: "plain" }),
      buildBm25(passages, { k1: 1.2 }),
      buildBm25(passages, { b: 0.75 }),
    ].map((retriever) => retriever.fingerprint);
    expect(new Set(fingerprints).size).toBe(5);
    expect(buildBm25(passages, { k1: 0.9 }).fingerprint).toBe(fingerprints[0]);
  });

  it("refuses an empty corpus and a repeated id", () => {
    expect(() => buildBm25([])).toThrow(expect.objectContaining({ code: "CORPUS_EMPTY" }) as Error);
    expect(() => buildBm25([...passages, passages[1]!])).toThrow(
      naming("corpus: passages", "2", "5", '"b"'),
    );
  });

  it("refuses a passage that repeats a term more often than it can count", () => {
    const text = "x ".repeat(65_536);
    const build = () => buildBm25([{ id: "long", title: "", text }]);
    expect(build).toThrow(expect.objectContaining({ code: "PASSAGE_TOO_LONG" }) as Error);
    expect(build).toThrow(naming("passage", '"long"', "65535"));
  });

  it("names the nearest analyzer and the allowed range of parameters", () => {
    expect(() => buildBm25(passages, { analyzer: "englsh" })).toThrow(
      `bm25.analyzer is "englsh"; no such analyzer. Did you mean "english"? Known: ${analyzers.names.join(", ")}.`,
    );
    expect(() => buildBm25(passages, { b: 1.5 })).toThrow(/b is 1\.5/);
  });

  it("stops between queries when asked to", async () => {
    const retriever = buildBm25(passages);
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(retriever.search(["Oslo"], 1, { signal })).rejects.toThrow("stop");
  });
});
