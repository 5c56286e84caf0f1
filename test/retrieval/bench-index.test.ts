import { describe, expect, it } from "vitest";
import { benchRetriever, recallOf, rolloutWarning } from "../../src/retrieval/bench-index.ts";
import { exactRecall } from "../../src/retrieval/bm25/check-index.ts";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import { listed } from "../helpers/listed-retriever.ts";
import { madeCorpus, madeQueries } from "../helpers/made-corpus.ts";

describe("benchRetriever", () => {
  it("asks every query alone and in batches of 64, in order", async () => {
    const retriever = listed(["a"]);
    const speed = await benchRetriever(retriever, { queries: ["x", "y"], k: 3, seconds: 0.02 });
    const alone = retriever.asked.filter(({ queries }) => queries.length === 1);
    const batches = retriever.asked.filter(({ queries }) => queries.length > 1);
    expect(retriever.asked.every(({ k }) => k === 3)).toBe(true);
    expect(batches.every(({ queries }) => queries.length === 64)).toBe(true);
    expect(batches[0]!.queries.slice(0, 3)).toEqual(["x", "y", "x"]);
    // The warm-up, each query once, is not counted.
    expect(speed.timed).toBe(alone.length - 2 + 64 * batches.length);
    expect(speed.p50Ms).toBeLessThanOrEqual(speed.p99Ms);
    expect(speed.queriesPerSecond).toBeGreaterThan(0);
  });

  it("stops when asked to", async () => {
    const options = {
      queries: ["x"],
      k: 1,
      seconds: 60,
      signal: AbortSignal.abort(new Error("stop")),
    };
    await expect(benchRetriever(listed(["a"]), options)).rejects.toThrow("stop");
  });
});

describe("recallOf", () => {
  const scored = (...pairs: [string, number][]) => pairs.map(([id, score]) => ({ id, score }));
  const exact = [scored(["a", 5], ["b", 4], ["c", 4], ["d", 1])];

  it("is the share of the k best that were found", () => {
    expect(recallOf([scored(["a", 5], ["b", 4])], exact, 2)).toBe(1);
    expect(recallOf([scored(["a", 5], ["d", 1])], exact, 2)).toBe(0.5);
    expect(recallOf([[]], exact, 4)).toBe(0);
    // 2 of 2 and 0 of 1.
    expect(recallOf([scored(["a", 1], ["b", 1]), []], [...exact, scored(["e", 1])], 2)).toBe(2 / 3);
  });

  it("takes any of those that score as much as the last of the k best", () => {
    expect(recallOf([scored(["a", 5], ["c", 4])], exact, 2)).toBe(1);
  });

  it("is null when there is nothing to find", () => {
    expect(recallOf([[]], [[]], 3)).toBeNull();
  });
});

describe("exactRecall", () => {
  it("is 1 for a search that is exact", async () => {
    const retriever = buildBm25(madeCorpus({ count: 500, seed: 1 }));
    expect(await exactRecall(retriever, madeQueries(20, { seed: 2 }), 5)).toBe(1);
  });
});

describe("rolloutWarning", () => {
  it("says how long 256 rollouts wait, from a second on", () => {
    expect(rolloutWarning({ queriesPerSecond: 256 })).toBeNull();
    expect(rolloutWarning({ queriesPerSecond: 100 })).toContain("waits 2.6 s for its searches");
  });
});
