import { describe, expect, it } from "vitest";
import { rankingMetrics, retrievalMetric } from "../../src/evaluate/retrieval-metrics.ts";
import { errorWith } from "../helpers/error-with.ts";

const log2 = Math.log2;

const measured = (names: string, ids: string[], relevances: Record<string, number>) =>
  rankingMetrics(
    ids,
    new Map(Object.entries(relevances)),
    names.split(" ").map((name) => retrievalMetric(name, "--metrics")),
  );

describe("rankingMetrics", () => {
  it("discounts gains by rank and divides by the ideal ranking", () => {
    const metrics = measured("ndcg@10 ndcg recall@10 mrr@10 hit@5", ["x", "b", "c", "a"], {
      a: 2,
      b: 1,
      c: 0,
    });
    const ideal = 2 / log2(2) + 1 / log2(3);
    expect(metrics["ndcg@10"]).toBeCloseTo((1 / log2(3) + 2 / log2(5)) / ideal, 12);
    expect(metrics["ndcg"]).toBe(metrics["ndcg@10"]);
    expect(metrics).toMatchObject({ "recall@10": 1, "mrr@10": 0.5, "hit@5": 1 });
  });

  it("looks only as deep as each metric says", () => {
    const ids = [...Array.from({ length: 10 }, (_, i) => `x${i}`), "a"];
    const names = "ndcg@10 recall@10 recall@11 precision@22 mrr@10 mrr hit@10 hit@11 map@10 map";
    expect(measured(names, ids, { a: 1 })).toEqual({
      "ndcg@10": 0,
      "recall@10": 0,
      "recall@11": 1,
      "precision@22": 1 / 22,
      "mrr@10": 0,
      mrr: 1 / 11,
      "hit@10": 0,
      "hit@11": 1,
      "map@10": 0,
      map: 1 / 11,
    });
  });

  it("counts relevant passages that were not found", () => {
    const four = { a: 1, b: 1, c: 1, d: 1, e: -1 };
    expect(measured("recall@10 mrr@10 ndcg@10", ["a"], four)).toMatchObject({
      "recall@10": 0.25,
      "mrr@10": 1,
    });
    expect(measured("ndcg@10 map rprec", [], four)).toEqual({ "ndcg@10": 0, map: 0, rprec: 0 });
  });

  it("averages precision over the relevant passages: of 3, found at 1 and 4, (1 + 2 / 4) / 3", () => {
    const found = measured("map map@3 rprec", ["a", "x", "y", "b"], { a: 1, b: 3, c: 1 });
    expect(found).toEqual({ map: 0.5, "map@3": 1 / 3, rprec: 1 / 3 });
  });

  it("has support only where all relevant passages are found", () => {
    const found = measured("support@2 support@3", ["a", "x", "b"], { a: 1, b: 1, c: 0 });
    expect(found).toEqual({ "support@2": 0, "support@3": 1 });
  });
});

describe("retrievalMetric", () => {
  it.each(["ndgc@10", "recall", "ndcg@0", "ndcg@", "ndcg@ten", "rprec@5", "@5", ""])(
    "does not know %j, and lists what there is",
    (name) => {
      expect(() => retrievalMetric(name, "--metrics")).toThrow(
        errorWith(
          "USAGE",
          "Known: ndcg, ndcg@k, recall@k, precision@k, map, map@k, mrr, mrr@k, hit@k, support@k, rprec.",
        ),
      );
    },
  );
});
