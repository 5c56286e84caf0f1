import { describe, expect, it } from "vitest";
import { sideOf } from "../../../src/experiment/compare/compared-run.ts";
import { gapTo, measurementOf } from "../../../src/experiment/compare/published-gap.ts";
import { newcombeInterval, wilsonInterval } from "../../../src/evaluate/statistics.ts";
import { madeRun } from "../../helpers/compared-runs.ts";
import { errorWith } from "../../helpers/error-with.ts";

const half = Array.from({ length: 100 }, (_, i) => i % 2);

describe("measurementOf", () => {
  it("has Wilson's interval for single draws that are right or wrong", () => {
    const run = madeRun("a", [...half, { em: [], errors: 1 }]);
    expect(measurementOf(sideOf([run]), "em", 1)).toMatchObject({
      metric: "em",
      n: 100,
      leftOut: 1,
      value: 0.5,
      isShare: true,
      method: "wilson",
      ci95: wilsonInterval(50, 100),
    });
  });

  it("resamples questions where draws are averaged, and runs where there are several", () => {
    const draws = half.map((right) => ({ em: [right, 1] }));
    const drawn = measurementOf(sideOf([madeRun("a", draws)]), "em", 1);
    expect(drawn).toMatchObject({ value: 0.75, isShare: true, method: "bootstrap" });
    const several = sideOf([madeRun("a", half), madeRun("b", half.map(() => 1))]); // prettier-ignore
    const found = measurementOf(several, "em", 1);
    expect(found).toMatchObject({ value: 0.75, method: "crossed bootstrap" });
    expect(found.ci95[0]).toBeLessThan(0.5);
  });

  it("refuses a metric that is not measured", () => {
    expect(() => measurementOf(sideOf([madeRun("a", [1])]), "f1", 1)).toThrow(
      errorWith("COMPARE_METRIC", '"f1" is not measured'),
    );
  });
});

describe("gapTo", () => {
  const ours = measurementOf(sideOf([madeRun("a", half)]), "em", 1);

  it("says whether the published number lies in our interval", () => {
    // Wilson: 50 of 100 gives .4038 to .5962.
    expect(gapTo({ value: 0.45, n: null }, ours)).toMatchObject({ inside: true, twoSample: null });
    const far = gapTo({ value: 0.3, n: null }, ours);
    expect(far).toMatchObject({ inside: false, difference: 0.2 });
    expect(far.ci95[0]).toBeCloseTo(ours.ci95[0] - 0.3, 12);
  });

  it("takes both as samples where the paper's n is known", () => {
    expect(gapTo({ value: 0.3, n: 200 }, ours).twoSample).toEqual(
      newcombeInterval({ share: 0.5, n: 100 }, { share: 0.3, n: 200 }),
    );
    // Averaged draws: 1.96 · √(error² + .3 · .7 / 200).
    const draws = half.map((right) => ({ em: [right, 1] }));
    const drawn = measurementOf(sideOf([madeRun("a", draws)]), "em", 1);
    const [low, high] = gapTo({ value: 0.3, n: 200 }, drawn).twoSample ?? [0, 0];
    const width = 2 * 1.959964 * Math.sqrt(drawn.standardError ** 2 + 0.00105);
    expect(high - low).toBeCloseTo(width, 6);
  });

  it("has no interval of two samples for what is no share", () => {
    const scores = measurementOf(sideOf([madeRun("a", [0.2, 0.7, 1])]), "em", 1);
    expect(gapTo({ value: 0.3, n: 200 }, scores).twoSample).toBeNull();
  });
});
