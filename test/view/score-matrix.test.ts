import { describe, expect, it } from "vitest";
import { type MatrixResult, matrixOf, matrixPlaces } from "../../src/view/score-matrix.ts";

function result(policy: string, dataset: string, em: number, strategy = "agent"): MatrixResult {
  return {
    n: 10,
    dataset,
    strategy,
    policy: { from: policy },
    metrics: { em, f1: em },
    intervals: { em: [0, 1] },
  };
}

describe("the matrix of policies and datasets", () => {
  it("keeps datasets of one file name in different folders apart", () => {
    const results = [result("p", "a/test.jsonl", 1), result("p", "b/test.jsonl", 0)];
    const places = matrixPlaces(results) ?? [];
    expect(places.map(({ dataset }) => dataset)).toEqual(["a/test.jsonl", "b/test.jsonl"]);
    expect(matrixOf(results, places)).toMatchObject([{ policy: "p", average: { em: 0.5 } }]);
  });

  it("names policies of paths by their last parts, and those of the hub whole", () => {
    const names = ["runs/a/checkpoints/step-4", "runs/b/checkpoints/step-4", "org/model"];
    const places = matrixPlaces(names.map((policy) => result(policy, "d", 1)));
    expect(places?.map(({ policy }) => policy)).toEqual([...["a", "b", "org/model"]]);
    const two = ["/home/me/runs/a/checkpoints/step-4", "/home/me/runs/a/checkpoints/step-8"];
    const short = matrixPlaces(two.map((policy) => result(policy, "d", 1)));
    expect(short?.map(({ policy }) => policy)).toEqual(["step-4", "step-8"]);
  });

  it("has no average for a policy that lacks a dataset: the mean would be of other datasets", () => {
    const results = [result("p", "a", 1), result("p", "b", 0), result("q", "a", 1)];
    const rows = matrixOf(results, matrixPlaces(results) ?? []);
    expect(rows.map(({ average }) => average.em)).toEqual([0.5, null]);
  });

  it("names the strategy where strategies differ, and places no results of one policy, strategy and dataset", () => {
    const both = matrixPlaces([result("p", "a", 1, "rag"), result("p", "a", 1, "direct")]);
    expect(both?.map(({ policy }) => policy)).toEqual(["p, rag", "p, direct"]);
    expect(matrixPlaces([result("p", "a", 1), result("p", "a", 0)])).toBeNull();
  });
});
