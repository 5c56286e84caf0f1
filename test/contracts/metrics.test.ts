import { describe, expect, it } from "vitest";
import { evaluationRow, type EvaluationRow } from "../../src/evaluate/evaluation-row.ts";
import {
  answerMetrics,
  answerScores,
  type ScoredAnswer,
} from "../../src/evaluate/metrics/answer-metrics.ts";
import { rowMetrics } from "../../src/evaluate/metrics/index.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { normalizations } from "../../src/text/answer-normalizations.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { madeRow } from "../helpers/evaluation-rows.ts";
import { answered, replay, rolloutOptions, task } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const gold: Task = { ...task, annotations: { supportingPassages: ["oslo", "lima"], hops: 2 } };
const ODD = ["", " ", "\u0000", "the", "yes", "no", "NaN", "[", "Oslo ".repeat(500), "ß İ ﬁ", "-"];

/** Rows of real rollouts of every kind of ending, of questions with gold passages and without, and of odd answers. */
async function rows(): Promise<EvaluationRow[]> {
  const scripts = [
    [
      "<search>capital Norway</search>",
      "<search>capital norway?</search>",
      "<answer>Oslo</answer>",
    ],
    ["<answer>Lima</answer>"],
    ["", ""],
    ["<search></search>", "hm"],
  ];
  const played = scripts.flatMap((script) =>
    [task, gold].map(async (each) => {
      const options = rolloutOptions({ policy: replay(script), task: each });
      return evaluationRow(each, 0, await rollOut(options, { maxTurns: 3 }));
    }),
  );
  const odd = ODD.map((answer, i) => evaluationRow(task, i, answered(answer)));
  const confident = [0, 0.5, 1].map((confidence) => madeRow("c", 1, { confidence }));
  // Of a world that pays.
  const paid = madeRow("p", 1, { return: 0.5 });
  // Of a strategy that searches before the first message.
  const given = madeRow("g", 1, { strategySearches: 1 });
  // Of a server that tells no usage.
  const { tokens: _, ...uncounted } = madeRow("u", 1);
  return [
    ...(await Promise.all(played)),
    ...odd,
    ...confident,
    paid,
    given,
    uncounted,
    evaluationRow(gold, 0, answered(null)),
  ];
}

const made = await rows();

describe.each(rowMetrics.parts.map((metric) => ({ name: metric.name, metric })))(
  "metric $name",
  ({ metric }) => {
    it("is null or within its range, and never null where every row has it", () => {
      for (const row of made) {
        const value = metric.of(row);
        if (metric.always) expect(value).not.toBeNull();
        if (value === null) continue;
        expect(value).toBeGreaterThanOrEqual(metric.range[0]);
        expect(value).toBeLessThanOrEqual(metric.range[1]);
      }
    });

    it("applies to some rows, and where it need not, not to all", () => {
      const rounds = madeRow("r", 1, { evidence: { gold: 2, given: 0, seen: [0, 1, 1, 2] } });
      const values = [...made, rounds].map((row) => metric.of(row));
      expect(values.some((value) => value !== null)).toBe(true);
      expect(values.includes(null)).toBe(!metric.always);
    });

    it("gives the same twice and from what rows.jsonl holds, and changes nothing", () => {
      for (const row of made) {
        const before = structuredClone(row);
        const value = metric.of(row);
        expect(metric.of(row)).toBe(value);
        expect(metric.of(JSON.parse(JSON.stringify(row)) as EvaluationRow)).toBe(value);
        expect(row).toEqual(before);
      }
    });

    it("says what it is in one sentence, and by a name that results can carry", () => {
      expect(metric.summary).toMatch(/^[A-Z].*\.$/);
      expect(metric.source).not.toBe("");
      expect(metric.name).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    });
  },
);

describe.each(answerMetrics.parts.map((metric) => ({ name: metric.name, metric })))(
  "answer metric $name",
  ({ metric }) => {
    const answers: ScoredAnswer[] = [...ODD, "Oslo", null].flatMap((prediction) =>
      [["Oslo"], ["", "yes"], ["the"], ODD].map((references) => ({ prediction, references })),
    );
    const spans: ScoredAnswer[] = [[], ["Oslo"], ["Oslo", "Lima"]].map((prediction) => ({
      prediction,
      references: ["Lima", "Oslo"],
      spans: true,
    }));

    it.each(normalizations.names)("is from 0 to 1 by %s, whatever the answer", (name) => {
      const normalization = normalizations.get(name, "test").name;
      for (const answer of answers) {
        const value = answerScores(answer, normalization)[metric.name];
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        if (metric.isShare) expect([0, 1]).toContain(value);
      }
    });

    it("is 1 for an answer that is a reference, and for the same spans", () => {
      expect(answerScores({ prediction: "Oslo", references: ["Lima", "Oslo"] })[metric.name]).toBe(
        1,
      );
      const same = { prediction: ["Oslo", "Lima"], references: ["Lima", "Oslo"], spans: true };
      expect([1, null]).toContain(answerScores(same)[metric.name]);
    });

    it.skipIf(metric.normalization === null)(
      "depends on its own normalisation alone, where it has one",
      () => {
        for (const answer of answers) {
          const values = normalizations.parts.map(({ name }) => answerScores(answer, name));
          expect(new Set(values.map((each) => each[metric.name])).size).toBe(1);
        }
      },
    );

    it("is the same twice, and changes nothing", () => {
      for (const answer of [...answers, ...spans]) {
        const before = structuredClone(answer);
        const value = answerScores(answer)[metric.name];
        expect(answerScores(answer)[metric.name]).toBe(value);
        expect(answer).toEqual(before);
      }
    });

    it("says what it is and where it comes from", () => {
      expect(metric.summary).toMatch(/\.$/);
      expect(metric.source).not.toBe("");
    });
  },
);
