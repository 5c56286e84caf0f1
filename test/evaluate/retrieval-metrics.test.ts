import { describe, expect, it } from "vitest";
import { evaluateRetrieval, rankingMetrics } from "../../src/evaluate/retrieval-metrics.ts";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";

const log2 = Math.log2;

describe("rankingMetrics", () => {
  it("discounts gains by rank and divides by the ideal ranking", () => {
    const relevances = new Map([
      ["a", 2],
      ["b", 1],
      ["c", 0],
    ]);
    const metrics = rankingMetrics(["x", "b", "c", "a"], relevances);
    const ideal = 2 / log2(2) + 1 / log2(3);
    expect(metrics["ndcg@10"]).toBeCloseTo((1 / log2(3) + 2 / log2(5)) / ideal, 12);
    expect(metrics).toMatchObject({ "recall@10": 1, "recall@100": 1, "mrr@10": 0.5, "hit@5": 1 });
  });

  it("looks only as deep as each metric says", () => {
    const ids = [...Array.from({ length: 10 }, (_, i) => `x${i}`), "a"];
    expect(rankingMetrics(ids, new Map([["a", 1]]))).toEqual({
      "ndcg@10": 0,
      "recall@10": 0,
      "recall@100": 1,
      "mrr@10": 0,
      "hit@5": 0,
    });
  });

  it("counts relevant passages that were not found", () => {
    const relevances = new Map(["a", "b", "c", "d"].map((id) => [id, 1]));
    expect(rankingMetrics(["a"], relevances)).toMatchObject({ "recall@10": 0.25, "mrr@10": 1 });
    expect(rankingMetrics([], relevances)["ndcg@10"]).toBe(0);
  });
});

describe("evaluateRetrieval", () => {
  const passages = [
    { id: "1", title: "Oslo", text: "capital of Norway" },
    { id: "2", title: "Lima", text: "capital of Peru" },
  ];
  const queries = [
    { id: "q1", text: "Norway" },
    { id: "q2", text: "unheard of" },
    { id: "q3", text: "Peru" },
  ];

  it("averages over queries with a relevant passage, found or not", async () => {
    const qrels = new Map([
      ["q1", new Map([["1", 1]])],
      ["q2", new Map([["2", 1]])],
      ["q3", new Map([["2", 0]])],
    ]);
    const scores = await evaluateRetrieval(buildBm25(passages), queries, qrels);
    expect(scores.n).toBe(2);
    expect(scores.metrics["ndcg@10"]).toBe(0.5);
    expect(scores.perQuery.map(({ id, metrics }) => [id, metrics["hit@5"]])).toEqual([
      ["q1", 1],
      ["q2", 0],
    ]);
  });

  it("changes its fingerprint with the retriever and with the judgements", async () => {
    const qrels = new Map([["q1", new Map([["1", 1]])]]);
    const other = new Map([["q1", new Map([["2", 1]])]]);
    const base = await evaluateRetrieval(buildBm25(passages), queries, qrels);
    const again = await evaluateRetrieval(buildBm25(passages), queries, qrels);
    const k1 = await evaluateRetrieval(buildBm25(passages, { k1: 2 }), queries, qrels);
    const judged = await evaluateRetrieval(buildBm25(passages), queries, other);
    expect(again.fingerprint).toBe(base.fingerprint);
    expect(new Set([base, k1, judged].map(({ fingerprint }) => fingerprint)).size).toBe(3);
  });
});
