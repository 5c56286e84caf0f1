import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { summarizeScores } from "../../src/evaluate/score-answers.ts";
import { type ScoreFileOptions, scoreLayouts } from "../../src/evaluate/score-file.ts";

const data = join(import.meta.dirname, "../../../shared/data");
const absent = !existsSync(join(data, "scored"));
const title = absent
  ? "published scores (skipped: ../shared/data is not here)"
  : "published scores";

async function score(
  layout: string,
  options: ScoreFileOptions,
): Promise<{ n: number; metrics: Record<string, number> }> {
  const { rows, shares } = await scoreLayouts.get(layout, "layout").score(options);
  return summarizeScores(
    rows.map(({ scores }) => scores),
    { shares, seed: 0 },
  );
}

const r1Searcher = (dataset: string): ScoreFileOptions => ({
  predictions: join(data, `scored/r1-searcher/${dataset}_qwen.jsonl`),
  predictionField: "pred_ans",
  referencesField: "answer",
});

interface IrcotMetrics {
  em: number;
  f1: number;
  precision: number;
  recall: number;
  count: number;
}

const RUNS = ["bm25k2_distr1", "bm25k6_distr2"];

const ircot = (run: string): ScoreFileOptions => ({
  predictions: join(data, "scored/ircot", run, "prediction.json"),
  references: join(data, "hotpotqa/dev-500-paragraphs.jsonl"),
  idField: "question_id",
  referencesField: "answers_objects.0.spans",
});

async function official(run: string): Promise<IrcotMetrics> {
  const path = join(data, "scored/ircot", run, "evaluation_metrics.json");
  return JSON.parse(await readFile(path, "utf8")) as IrcotMetrics;
}

const toThree = (value: number | undefined): number => Number((value ?? NaN).toFixed(3));

describe.skipIf(absent)(title, () => {
  it.each([
    ["hotpotqa", 500, 0.58, 0.654, 0.75],
    ["bamboogle", 125, 0.456, 0.528, 0.544],
  ])(
    "are R1-Searcher's on its %s predictions, its judge's among them",
    async (dataset, n, em, cover, judged) => {
      const scores = await score("answers", {
        ...r1Searcher(dataset),
        verdictField: "gpt4o_output",
      });
      expect(scores.n).toBe(n);
      expect(scores.metrics).toMatchObject({ em, token_cover: cover, judged });
    },
  );

  it("have another em by the SQuAD normalisation, which joins what a hyphen parts", async () => {
    const { metrics } = await score("answers", {
      ...r1Searcher("hotpotqa"),
      normalization: "squad",
    });
    expect(metrics["em"]).toBe(0.576);
  });

  it.each(RUNS)("are IRCoT's own on its run %s: em, f1, precision, recall", async (run) => {
    const { em, f1, precision, recall, count } = await official(run);
    const { n, metrics } = await score("ircot", ircot(run));
    expect({ n, em: metrics["drop_em"] }).toEqual({ n: count, em });
    expect(toThree(metrics["drop_f1"])).toBe(f1);
    expect(toThree(metrics["drop_precision"])).toBe(precision);
    expect(toThree(metrics["drop_recall"])).toBe(recall);
  });

  it.each(RUNS)("have IRCoT's em on its run %s by squad and words as well", async (run) => {
    const { em, count } = await official(run);
    for (const normalization of ["squad", "words"] as const) {
      const { n, metrics } = await score("answers", { ...ircot(run), normalization });
      expect({ em: metrics["em"], count: n }).toEqual({ em, count });
    }
  });
});
