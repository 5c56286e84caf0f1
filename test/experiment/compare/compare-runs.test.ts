import { describe, expect, it } from "vitest";
import type { AnswerKind } from "../../../src/evaluate/metrics/answer-metrics.ts";
import { compareRuns } from "../../../src/experiment/compare/compare-runs.ts";
import { sideOf } from "../../../src/experiment/compare/compared-run.ts";
import { madeRun } from "../../helpers/compared-runs.ts";
import { errorWith } from "../../helpers/error-with.ts";

const seed = 1;
const ones = Array.from({ length: 8 }, () => 1);
const zeros = ones.map(() => 0);

describe("compareRuns", () => {
  it("tests the first side against each other, with Holm's correction over all tests", () => {
    const sides = [
      sideOf([madeRun("a", ones)]),
      sideOf([madeRun("b", zeros)]),
      sideOf([madeRun("c", ones)]),
    ];
    const { comparisons, tests } = compareRuns(sides, { seed });
    expect(tests).toBe(2);
    expect(comparisons.map(({ right }) => right)).toEqual(["b", "c"]);
    // 8 pairs of equal sign: 2 of 256 patterns; doubled for the smaller of two tests.
    expect(comparisons[0]?.metrics).toEqual([
      {
        metric: "em",
        n: 8,
        left: 1,
        right: 0,
        difference: 1,
        ci95: [1, 1],
        p: 2 / 256,
        method: "exact",
        pHolm: 4 / 256,
        verdict: "higher",
        leftError: 0,
        rightError: 0,
        standardError: 0,
        effect: null,
        shareEffect: Math.PI,
        smallestDetectable: null,
        runs: null,
        agreement: { both: 0, onlyLeft: 8, onlyRight: 0, neither: 0 },
        mcnemar: expect.closeTo(2 / 256, 12) as number,
      },
    ]);
    expect(comparisons[1]?.metrics[0]).toMatchObject({ p: 1, verdict: "no difference shown" });
  });

  it("joins by id, and counts what only one side has or could not measure", () => {
    const failed = { em: [], errors: 2 };
    const left = madeRun("a", [1, 1, failed, { id: "x", em: [1] }, { id: "y", em: [0] }]);
    const right = madeRun("b", [0, failed, 1, 1]);
    const { comparisons } = compareRuns([sideOf([left]), sideOf([right])], { seed });
    // q0 is measured by both; q1 and q2 failed on one side; x and y, and q3, stand on one side.
    expect(comparisons[0]?.questions).toEqual({
      compared: 1,
      leftOut: 2,
      onlyLeft: 2,
      onlyRight: 1,
    });
    expect(comparisons[0]?.metrics[0]).toMatchObject({ n: 1, left: 1, right: 0 });
  });

  it("averages draws first, and then has no table of right and wrong", () => {
    const left = madeRun("a", [{ em: [1, 0, 0, 1] }, { em: [1] }]);
    const { comparisons } = compareRuns([sideOf([left]), sideOf([madeRun("b", [0, 0])])], { seed });
    const [found] = comparisons[0]?.metrics ?? [];
    expect(found).toMatchObject({ left: 0.75, agreement: null, mcnemar: null, shareEffect: null });
  });

  it("names no detectable difference of a single question, also where there are several runs", () => {
    const left = sideOf([madeRun("a1", [1]), madeRun("a2", [0])]);
    const { comparisons } = compareRuns([left, sideOf([madeRun("b", [0])])], { seed });
    expect(comparisons[0]?.metrics[0]?.standardError).toBeGreaterThan(0);
    expect(comparisons[0]?.metrics[0]?.smallestDetectable).toBeNull();
  });

  it("says by question what changed", () => {
    const left = madeRun("a", [{ em: [1], question: "Why?", hops: "2-hop" }, 0, 1]);
    const right = madeRun("b", [0, 1, 1]);
    const { comparisons } = compareRuns([sideOf([left]), sideOf([right])], { seed });
    expect(comparisons[0]?.changed).toEqual([
      {
        id: "q0",
        change: "gained",
        metric: "em",
        question: "Why?",
        references: null,
        hops: "2-hop",
        left: { value: 1, answers: ["a 1"] },
        right: { value: 0, answers: ["b 0"] },
      },
      expect.objectContaining({ id: "q1", change: "lost" }),
    ]);
  });

  it("gives the difference of each group without a verdict", () => {
    const hops = (n: number, em: number) => ({ em: [em], hops: `${n}-hop` });
    const left = madeRun("a", [hops(2, 1), hops(10, 1), hops(10, 0)]);
    const { comparisons } = compareRuns([sideOf([left]), sideOf([madeRun("b", [0, 0, 0])])], {
      seed,
    });
    const groups = comparisons[0]?.groups.hops["em"];
    expect(Object.keys(groups ?? {})).toEqual(["2-hop", "10-hop"]);
    expect(groups?.["2-hop"]).toEqual({ n: 1, left: 1, right: 0, difference: 1, ci95: null });
    expect(groups?.["10-hop"]).toMatchObject({ n: 2, left: 0.5 });
  });

  it("does not call several runs higher when the interval, which knows of runs, does not", () => {
    // On every question the left side is better by half: its runs, one perfect and one hopeless, say nothing.
    const even = Array.from({ length: 30 }, (_, i) => i % 10 === 0);
    const lucky = madeRun("a1", even.map(() => 1), { facts: { seed: 1 } }); // prettier-ignore
    const luckless = madeRun("a2", even.map(() => 0), { facts: { seed: 2 } }); // prettier-ignore
    const right = madeRun("b", even.map(Number));
    const left = sideOf([lucky, luckless]);
    const [found] = compareRuns([left, sideOf([right])], { seed }).comparisons[0]?.metrics ?? [];
    expect(left.name).toBe("a1,a2");
    expect(found).toMatchObject({ left: 0.5, verdict: "no difference shown" });
    expect(found?.pHolm).toBeLessThan(0.05);
    expect(found?.ci95[0]).toBeLessThan(0);
    expect(found?.runs).toMatchObject({ difference: expect.closeTo(0.4, 12) as number });
  });

  it("refuses runs that share nothing, mean different questions by an id, or measured nothing together", () => {
    const sides = (...runs: ReturnType<typeof madeRun>[]) => runs.map((run) => sideOf([run]));
    const compare = (...runs: ReturnType<typeof madeRun>[]) =>
      compareRuns(sides(...runs), { seed });
    expect(() => compare(madeRun("a", [1]), madeRun("b", [{ id: "z", em: [1] }]))).toThrow(
      errorWith("COMPARE_UNMATCHED", 'the first ids are "q0" and "z"'),
    );
    const asked = (question: string) => madeRun(question, [{ em: [1], question }]);
    expect(() => compare(asked("Why?"), asked("How?"))).toThrow(
      errorWith("COMPARE_UNMATCHED", 'question "q0": its question in Why?, "Why?", differs'),
    );
    expect(() => compare(madeRun("a", [{ em: [] }]), madeRun("b", [1]))).toThrow(
      errorWith("COMPARE_UNMATCHED", "none was measured on both sides"),
    );
  });

  it("refuses metrics that not all runs measured", () => {
    const sides = [sideOf([madeRun("a", [1])]), sideOf([madeRun("b", [1], { metrics: ["f1"] })])];
    expect(() => compareRuns(sides, { metrics: ["em"], seed })).toThrow(
      errorWith("COMPARE_METRIC", '--metrics names "em"'),
    );
    expect(() => compareRuns(sides, { seed })).toThrow(errorWith("COMPARE_METRIC", "neither"));
  });

  it("compares questions with answers of one kind, by any run that knows question and references", () => {
    const asked = [
      { question: "Is Oslo in Norway?", references: ["yes"] },
      { question: "Which is older, Oslo or Bergen?", references: ["Bergen"] },
      { question: "Who founded Oslo?", references: ["Harald Hardrada"] },
    ];
    const left = madeRun(
      "a",
      asked.map((each, i) => ({ ...each, em: [Number(i === 2)] })),
    );
    const sides = [sideOf([madeRun("b", [1, 1, 0])]), sideOf([left])];
    const compared = (answers: readonly AnswerKind[]) =>
      compareRuns(sides, { seed, answers }).comparisons[0]?.metrics[0];
    expect(compared(["open"])).toMatchObject({ n: 1, left: 0, right: 1 });
    expect(compared(["yes-no", "in-question"])).toMatchObject({ n: 2, left: 1, right: 0 });
    const unknown = [sideOf([madeRun("b", [1])]), sideOf([madeRun("c", [1])])];
    expect(() => compareRuns(unknown, { seed, answers: ["open"] })).toThrow(
      errorWith("COMPARE_UNMATCHED", "none has an answer that is open"),
    );
  });
});
