import { describe, expect, it } from "vitest";
import { evaluate } from "../../../src/evaluate/evaluate.ts";
import type { EvaluationRow } from "../../../src/evaluate/evaluation-row.ts";
import { drawsMeasurer, measurer, measuresOf } from "../../../src/evaluate/measures.ts";
import {
  divEqu,
  equationsIn,
  ngramDiversity,
  selfBleu,
} from "../../../src/evaluate/metrics/diversity.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { answered, task } from "../../helpers/search-world.ts";

describe("equationsIn", () => {
  it("finds the steps of the number world's solutions", () => {
    const text =
      "14 * 21 = 294. Check: 14 * 21 = 294. It agrees. Wait. max ( 3 , 9 , 12 ) = 12. ( 12 + 5 ) * 3 = 51. 9.5 - 10 = -0.5.";
    expect(equationsIn(text)).toEqual([
      "14*21=294",
      "14*21=294",
      "max(3,9,12)=12",
      "(12+5)*3=51",
      "9.5-10=-0.5",
    ]);
  });

  it("reads LaTeX: math mode ends a piece, and two spellings are one equation", () => {
    const text = String.raw`We know $x = \dfrac{12}{5}$, so \[ 2x\cdot 3 &= 1{,}200 \\ y &= 7 \text{ cm} \] and \(x=\frac{12}{5}\).`;
    expect(equationsIn(text)).toEqual([
      String.raw`x=\frac{12}{5}`,
      "2x*3=1200",
      "y=7",
      String.raw`x=\frac{12}{5}`,
    ]);
    expect(equationsIn("**1,250 × 2 = 2,500**\n- 3 + 4 = 7\n6 = 2 + 4 = 3 * 2")).toEqual([
      "1250*2=2500",
      "3+4=7",
      "6=2+4=3*2",
    ]);
  });

  it("finds none without two sides, and is fast on texts of brackets and digits", () => {
    expect(equationsIn("So 7 + 5 = twelve, and = 3. a <= b, not x == .")).toEqual([]);
    expect(equationsIn(`${"(1+".repeat(20_000)}${"9".repeat(20_000)}`)).toEqual([]);
  });
});

describe("divEqu", () => {
  it("is different equations by all of them, repeats within a solution counted", () => {
    // 1+2=3, 3*2=6, 1+2=3: two of three. With "2*3=6." three of four.
    expect(divEqu(["1 + 2 = 3. 3 * 2 = 6.", "1 + 2 = 3."])).toBe(2 / 3);
    expect(divEqu(["1 + 2 = 3. 3 * 2 = 6.", "1 + 2 = 3. 2 * 3 = 6."])).toBe(3 / 4);
    expect(divEqu(["1 + 2 = 3. 1 + 2 = 3."])).toBe(1 / 2);
    expect(divEqu(["None.", ""])).toBeNull();
  });
});

describe("ngramDiversity", () => {
  it("is the mean over n of different n-grams by all n-grams, within each text", () => {
    // n = 1: a b c of a b a c; n = 2: both differ; no longer ones.
    expect(ngramDiversity(["a b", "a c"])).toBe((3 / 4 + 1) / 2);
    // n = 1 to 4 of "1 + 1 = 2" twice: 4/10, 4/8, 3/6, 2/4.
    expect(ngramDiversity(["1 + 1 = 2", "1+1=2"])).toBeCloseTo((0.4 + 0.5 + 0.5 + 0.5) / 4, 12);
    expect(ngramDiversity([" "])).toBeNull();
  });
});

describe("selfBleu", () => {
  it("is 1 for equal texts and null for a single one", () => {
    expect(selfBleu(["a b c d e", "a b c d e"])).toBeCloseTo(1, 12);
    expect(selfBleu(["a b c d e"])).toBeNull();
  });

  it("is BLEU-4 against the other texts, smoothed, with a penalty for short texts", () => {
    // "a b c d e" to "a b c d": 4/5, 3/4, 2/3, 1/2, product .2; no penalty, the reference is shorter.
    // "a b c d" to "a b c d e": all 1, penalty exp(1 - 5/4).
    const expected = (0.2 ** 0.25 + Math.exp(-0.25)) / 2;
    expect(selfBleu(["a b c d e", "a b c d"])).toBeCloseTo(expected, 12);
    // Nothing in common, four words: .1/4, .1/3, .1/2, .1/1.
    const apart = (1e-4 / 24) ** 0.25;
    expect(selfBleu(["a b c d", "e f g h"])).toBeCloseTo(apart, 12);
  });

  it("limits a word's count by the reference that has most of it", () => {
    // "a a b" to "a b" and "a a": a counts 2 of 2, b 1 of 1; "a a", "a b" both there; "a a b" nowhere: .1/1; no 4-gram: .1/1.
    const first = (1 * 1 * 0.1 * 0.1) ** 0.25 * Math.exp(0);
    // "a b" to "a a b", "a a": lengths 3 and 2, 2 is as long; 1, 1, then .1 and .1.
    const second = (1 * 1 * 0.1 * 0.1) ** 0.25;
    // "a a" to "a a b", "a b": the same.
    expect(selfBleu(["a a b", "a b", "a a"])).toBeCloseTo((first + 2 * second) / 3, 12);
  });
});

const TEXTS = ["1 + 2 = 3. 3 * 2 = 6.", "1 + 2 = 3.", "4 + 4 = 8.", "1 + 2 = 3. 2 * 3 = 6."];

/** Four draws of a question; the third is wrong by the reward `correct`. */
function run(more: object = {}) {
  const rows: EvaluationRow[] = [];
  const measures = measuresOf(
    settingsSchema.parse({
      rewards: [{ name: "exact-match", as: "correct" }],
      evaluation: { metrics: ["div-equ", "div-equ-pairs", "self-bleu", "ngram-diversity"] },
    }),
  );
  const summary = evaluate(
    (asked, sample) => {
      const text = TEXTS[sample] ?? "";
      const turns = [{ call: 0, text, actions: [], problems: [], observations: [] }];
      const answer = sample === 2 ? "Lima" : "Oslo";
      return Promise.resolve(answered(answer, { id: `${asked.id}/${sample}`, turns }));
    },
    {
      tasks: [task, { ...task, id: "b" }],
      samplesPerTask: 4,
      seed: 1,
      signal: new AbortController().signal,
      measure: measurer(measures, {}),
      measureDraws: drawsMeasurer(measures),
      onRow: (row) => Promise.resolve(void rows.push(row)),
      ...more,
    },
  );
  return { rows, summary };
}

describe("metrics of a question's draws", () => {
  it("stand in each row of the question and are the summary's mean", async () => {
    const { rows, summary } = run();
    const { metrics, metricCounts } = await summary;
    // Right draws have 2, 1 and 2 equations, of which 3 differ; pairs: 2/3, 3/4 and 2/3.
    expect(metrics["div-equ"]).toBeCloseTo(3 / 5, 12);
    expect(metrics["div-equ-pairs"]).toBeCloseTo((2 / 3 + 3 / 4 + 2 / 3) / 3, 12);
    expect(metrics["self-bleu"]).toBeCloseTo(selfBleu(TEXTS) ?? NaN, 12);
    expect(metrics["ngram-diversity"]).toBeCloseTo(ngramDiversity(TEXTS) ?? NaN, 12);
    expect(rows.map(({ id, sample }) => `${id}${sample}`)).toHaveLength(8);
    expect(rows.map((row) => row.sample)).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
    expect(new Set(rows.map((row) => row.metrics?.["div-equ"]))).toEqual(new Set([3 / 5]));
    expect(metricCounts["div-equ"]).toBeUndefined();
  });

  it("are taken from rows of an earlier run, whose texts are gone", async () => {
    const { rows, summary } = run();
    await summary;
    const again = run({
      known: ({ id }: { id: string }, sample: number) =>
        rows.find((row) => row.id === id && row.sample === sample && row.sample < 2),
    });
    expect((await again.summary).metrics).toEqual((await summary).metrics);
    expect(again.rows.map((row) => row.sample)).toEqual([2, 3, 2, 3]);
  });

  it("are measured by no evaluation that names none", () => {
    expect(drawsMeasurer(measuresOf(settingsSchema.parse({})))).toBeUndefined();
  });
});
