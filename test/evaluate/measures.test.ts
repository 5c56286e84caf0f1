import { beforeAll, describe, expect, it } from "vitest";
import { addPart } from "../../src/base/registry.ts";
import { z } from "../../src/base/schema.ts";
import { evaluate } from "../../src/evaluate/evaluate.ts";
import { measurer, measuresOf } from "../../src/evaluate/measures.ts";
import { chartedMetrics, shownMetrics } from "../../src/evaluate/metrics/metric-columns.ts";
import { defineMetric } from "../../src/evaluate/metrics/metric.ts";
import { defineReward } from "../../src/rewards/reward.ts";
import { checkMetricPath, isShareMetric } from "../../src/run/claims/claim-metric.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { rowValue } from "../../src/view/score-groups.ts";
import { errorWith } from "../helpers/error-with.ts";
import { answered, task } from "../helpers/search-world.ts";

const score = () => 1;

beforeAll(() => {
  const words = defineMetric({
    name: "answer-words",
    summary: "Words of the answer.",
    range: [0, 100],
    options: z.strictObject({ least: z.int().default(0) }),
    score: ({ row, trajectory }, { least }) => {
      const count = row.answer?.split(" ").length ?? null;
      return trajectory.answer === row.answer && count !== null && count >= least ? count : null;
    },
  });
  const terse = defineMetric({ name: "terse", summary: "One word.", score });
  const group = defineReward({ name: "grouped", summary: "Compares.", scope: "group", scoreAll: (all) => all.map(score) }); // prettier-ignore
  addPart({ ...words, part: "metric" });
  addPart({ ...terse, part: "metric" });
  addPart({ ...group, part: "reward" });
});

const settings = () =>
  settingsSchema.parse({
    rewards: [
      { name: "token-f1", as: "evidence", weight: 0 },
      { name: "exact-match", as: "em" },
      "cover-em",
      "tag-format",
      "grouped",
    ],
    evaluation: {
      metrics: [{ name: "answer-words", least: 2 }, "terse"],
      sets: { drawn: { samplesPerTask: 4 } },
    },
  });

describe("what a recipe measures", () => {
  it("stands in rows and summaries, with counts and intervals, over several draws too", async () => {
    const answers = ["Oslo", "in Oslo"];
    const rows: unknown[] = [];
    const summary = await evaluate(
      (asked, sample) =>
        Promise.resolve(answered(answers[sample] ?? "", { id: `${asked.id}/${sample}` })),
      {
        tasks: [task, { ...task, id: "b" }],
        samplesPerTask: 2,
        seed: 1,
        signal: new AbortController().signal,
        measure: measurer(measuresOf(settings()), {}),
        onRow: (row) => Promise.resolve(void rows.push(row)),
      },
    );
    expect(rows[1]).toMatchObject({
      metrics: { evidence: 2 / 3, "cover-em": 1, "tag-format": 1, "answer-words": 2, terse: 1 },
    });
    // Too short an answer for the metric's option, and no metric of every evaluation a second time.
    const first = (rows[0] as { metrics: object }).metrics;
    expect(Object.keys(first)).toEqual(["evidence", "cover-em", "tag-format", "terse"]);
    expect(rowValue(rows[1] as never, "answer-words")).toBe(2);
    expect(summary.metrics["evidence"]).toBeCloseTo(5 / 6, 12);
    expect(summary.metrics["answer-words"]).toBe(2);
    expect(summary.intervals["evidence"]).toHaveLength(2);
  });

  it("is shown by tables, without rewards that are a headline metric by another name", () => {
    const measured = { em: 1, evidence: 0.5, "cover-em": 1, "pass@2": 1, search_rate: 0 };
    expect(shownMetrics(measured)).toEqual(["em", "evidence"]);
    expect(chartedMetrics(measured)).toEqual(["em", "evidence"]);
  });

  it("can be claimed, of sets and curves too; other names are refused with the nearest", () => {
    const during = { ...settings().evaluation, during: { every: 1, questions: 1 } };
    const fail = (sentence: string) => new Error(sentence);
    const check = (path: string) => () => {
      checkMetricPath(path, { ...settings(), evaluation: during }, fail);
    };
    for (const path of [
      ...["eval.after.evidence", "eval.before.answer-words", "eval.sets.drawn.after.evidence"],
      ...["curve.evidence.area", "eval.after.em"],
    ])
      expect(check(path)).not.toThrow();
    expect(check("eval.after.evidense")).toThrow(/Did you mean "eval\.after\.evidence"/);
    // A reward that compares trajectories has no value for one draw.
    expect(check("eval.after.grouped")).toThrow(/no number of a run's results/);
    expect(check("curve.evidense.area")).toThrow(/Did you mean "evidence"/);
    const paths = ["eval.after.terse", "eval.after.answer-words", "eval.after.evidence"];
    expect(paths.map(isShareMetric)).toEqual([true, false, false]);
  });

  it("refuses a metric that every evaluation has, and one that is not there", () => {
    expect(() => defineMetric({ name: "em", summary: "x", score })).toThrow(
      errorWith("PLUGIN_BAD_PART", /"em" already exists/),
    );
    const unknown = settingsSchema.safeParse({ evaluation: { metrics: ["answer-word"] } });
    expect(unknown.error?.issues[0]?.message).toMatch(/Did you mean "answer-words"/);
  });
});
