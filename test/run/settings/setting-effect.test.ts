import { describe, expect, it } from "vitest";
import { effectOf } from "../../../src/run/settings/settings-schema.ts";
import "../../helpers/all-parts.ts";

describe("effectOf", () => {
  it("tells what is learned from how long, where from, in which portions, and how a run is kept", () => {
    const keys = [
      ...["algorithm.klCoef", "algorithm.steps", "sft.data", "engine.workers", "alarms.0.name"],
      ...["rollback.most", "reporters", "evaluation.during.every", "rewardCheck", "seed"],
    ];
    expect(keys.map(effectOf)).toEqual([
      ...["training", "length", "place", "numerics", "rollback"],
      ...["rollback", "bookkeeping", "bookkeeping", "bookkeeping", "training"],
    ]);
  });

  it("takes no setting for another that begins like it, and weights' rounding for no portion", () => {
    const keys = ["evaluation.dataset.name", "sft.dataset", "engine.frozenWeights", "reportersX"];
    expect(keys.map(effectOf)).toEqual(keys.map(() => "training"));
  });

  it("judges what a stage sets, in rounds too, as what it sets", () => {
    expect(effectOf("stages.0.set.checkpoints.every")).toBe("bookkeeping");
    expect(effectOf("stages.1.stages.0.set.sft.epochs")).toBe("length");
    expect(effectOf("stages.0.do")).toBe("training");
  });
});
