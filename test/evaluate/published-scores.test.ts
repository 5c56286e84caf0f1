import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPredictions } from "../../src/evaluate/predictions.ts";
import { scoreAnswers } from "../../src/evaluate/score-answers.ts";

const data = join(import.meta.dirname, "../../../shared/data");
const absent = !existsSync(join(data, "scored"));
const title = absent
  ? "published scores (skipped: ../shared/data is not here)"
  : "published scores";

describe.skipIf(absent)(title, () => {
  it.each([
    ["hotpotqa", 500, 0.58, 0.654],
    ["bamboogle", 125, 0.456, 0.528],
  ])("are R1-Searcher's on its %s predictions", async (dataset, n, em, tokenCover) => {
    const answers = await readPredictions({
      predictions: join(data, `scored/r1-searcher/${dataset}_qwen.jsonl`),
      predictionField: "pred_ans",
      referencesField: "answer",
    });
    const scores = scoreAnswers(answers, { normalization: "words" });
    expect(scores.n).toBe(n);
    expect(scores.metrics).toMatchObject({ em, token_cover: tokenCover });
  });

  it("have another em by the SQuAD normalisation, which joins what a hyphen parts", async () => {
    const answers = await readPredictions({
      predictions: join(data, "scored/r1-searcher/hotpotqa_qwen.jsonl"),
      predictionField: "pred_ans",
      referencesField: "answer",
    });
    expect(scoreAnswers(answers, { normalization: "squad" }).metrics["em"]).toBe(0.576);
  });

  it("are the official ones for every IRCoT run, by either normalisation", async () => {
    const runs = join(data, "scored/ircot");
    for (const run of await readdir(runs)) {
      const official = JSON.parse(
        await readFile(join(runs, run, "evaluation_metrics.json"), "utf8"),
      ) as { em: number; count: number };
      const answers = await readPredictions({
        predictions: join(runs, run, "prediction.json"),
        references: join(data, "hotpotqa/dev-500-paragraphs.jsonl"),
        idField: "question_id",
        referencesField: "answers_objects.0.spans",
      });
      for (const normalization of ["squad", "words"] as const) {
        const { n, metrics } = scoreAnswers(answers, { normalization });
        expect({ em: metrics["em"], count: n }).toEqual({ em: official.em, count: official.count });
      }
    }
  });
});
