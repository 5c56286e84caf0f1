import { describe, expect, it } from "vitest";
import {
  digestOf,
  namedFigures,
  subjectOf,
  type ReporterEvent,
} from "../../../src/watch/reporters/reporter-event.ts";

const done: ReporterEvent = {
  kind: "step",
  at: 5,
  step: 7,
  data: { "reward/exact-match": 0.5 },
  timing: { tokensPerSecond: 9, rollout: 1000 },
};

describe("namedFigures", () => {
  it("keeps a step's names and puts its timings into a group", () => {
    expect(namedFigures(done)).toEqual({
      "reward/exact-match": 0.5,
      "timing/tokens_per_second": 9,
      "timing/rollout": 1000,
    });
  });

  it("makes two points of one curve of the evaluations around a training, and others of those during it", () => {
    const of = (name: string): object =>
      namedFigures({ kind: "evaluation", at: 0, step: 0, name, scores: { em: 1 } });
    const names = ["before", "after", "step-40", "transfer/after"];
    expect(names.map(of)).toEqual([
      { "evaluation/em": 1 },
      { "evaluation/em": 1 },
      { "evaluation_during/em": 1 },
      { "evaluation/transfer/em": 1 },
    ]);
  });

  it("leaves out scores that could not be measured", () => {
    const scores = { em: 1, f1: null } as unknown as Record<string, number>;
    expect(namedFigures({ kind: "evaluation", at: 0, step: 0, name: "after", scores })).toEqual({
      "evaluation/em": 1,
    });
  });
});

describe("what is told twice", () => {
  it("is the same for the same figures, whenever and however fast they came", () => {
    const again = { ...done, at: 99, timing: { rollout: 1 } };
    expect([subjectOf(again), digestOf(again)]).toEqual([subjectOf(done), digestOf(done)]);
    expect(subjectOf(done)).toBe("step/7");
  });

  it("is something else for other figures", () => {
    expect(digestOf({ ...done, data: { "reward/exact-match": 0.6 } })).not.toBe(digestOf(done));
  });
});
