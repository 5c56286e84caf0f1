import { describe, expect, it } from "vitest";
import { checkMetricPath, isShareMetric } from "../../../src/run/claims/claim-metric.ts";
import { parseCurveMetric } from "../../../src/run/claims/curve-metric.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import "../../helpers/all-parts.ts";

const fail = (sentence: string) => new Error(sentence);
const settings = settingsSchema.parse({
  rewards: [{ name: "exact-match", as: "em" }],
  evaluation: { during: { every: 5 }, sets: { drawn: { samplesPerTask: 4 } } },
  stages: [{ do: "sft" }],
});
const without = settingsSchema.parse({});

describe("parseCurveMetric", () => {
  it("reads metric, figure and argument; other paths are none", () => {
    expect(parseCurveMetric("curve.em.stepsTo(.6)", fail)).toEqual({
      of: "em",
      figure: "stepsTo",
      argument: 0.6,
    });
    expect(parseCurveMetric("curve.rollout/reward_mean.area", fail)).toEqual({
      of: "rollout/reward_mean",
      figure: "area",
      argument: 0,
    });
    expect(parseCurveMetric("eval.after.em", fail)).toBeNull();
  });

  it.each([
    ["curve.em", "is no figure of a curve"],
    ["curve.em.steps(0.6)", 'Did you mean "stepsTo"?'],
    ["curve.em.stepsTo", "needs the level to reach"],
    ["curve.em.stepsTo(high)", "needs the level to reach"],
    ["curve.em.area(3)", "has an argument; area has none"],
    ["curve.em.last(0.5)", "needs a number of points"],
  ])("refuses %s", (path, sentence) => {
    expect(() => parseCurveMetric(path, fail)).toThrow(sentence);
  });
});

describe("isShareMetric", () => {
  it("is true of shares and of the height of their curves", () => {
    const paths = ["eval.after.em", "curve.em.area", "curve.em.last(3)", "eval.after.n"];
    expect(paths.map(isShareMetric)).toEqual([true, true, true, false]);
    expect(["curve.em.stepsTo(0.6)", "curve.em.collapse"].map(isShareMetric)).toEqual([
      ...[false, false],
    ]);
  });
});

describe("checkMetricPath", () => {
  it.each([
    ...["eval.after.em", "eval.before.completion_tokens", "eval.after.groups.hops.2.em"],
    ...["steps", "stages.sft.loss", "curve.em.area", "curve.reward/em.last(3)"],
    ...["curve.rollout/searches.collapse", "curve.em.collapse"],
    ...["eval.sets.drawn.after.em", "eval.sets.drawn.before.pass@4"],
    "eval.sets.drawn.after.groups.hops.2.em",
  ])("accepts %s", (path) => {
    expect(() => {
      checkMetricPath(path, settings, fail);
    }).not.toThrow();
  });

  it.each([
    ["eval.after.me", /no number of a run's results\. Did you mean "eval\.after\.em"/],
    ["eval.after.pass@4", /no number of a run's results/],
    ["eval.sets.draw.after.em", /Did you mean "eval\.sets\.drawn\.after\.em"/],
    ["eval.sets.drawn.em", /no number of a run's results/],
    ["stages.dpo.loss", /no number of a run's results/],
    ["curve.me.area", /the curve of no metric\. Known: em, f1/],
    ["curve.reward/f1.area", /no reward of the recipe\. .*Known: reward\/em/],
    ["curve.f1.collapse", /no alarm that judges f1/],
  ])("refuses %s", (path, sentence) => {
    expect(() => {
      checkMetricPath(path, settings, fail);
    }).toThrow(sentence);
  });

  it("asks for evaluations during training where a curve needs them", () => {
    for (const path of ["curve.em.area", "curve.eval/em.last(2)"])
      expect(() => {
        checkMetricPath(path, without, fail);
      }).toThrow("set evaluation.during");
  });
});
