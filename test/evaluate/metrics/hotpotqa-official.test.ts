import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type HotpotqaMetric,
  hotpotqaMetrics,
  scoreHotpotqa,
} from "../../../src/evaluate/metrics/hotpotqa-official.ts";
import { summarizeScores } from "../../../src/evaluate/score-answers.ts";
import { scoreLayouts } from "../../../src/evaluate/score-file.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

type Fact = [title: string, sentence: number];
/** Exact fractions, as "1/3". */
type Exact = Record<HotpotqaMetric, string>;

interface Golden {
  tolerance: number;
  mean: Exact;
  cases: {
    shows: string;
    gold: string;
    goldFacts: Fact[];
    predicted: string | null;
    predictedFacts: Fact[] | null;
    scores: Exact;
  }[];
}

const golden = JSON.parse(
  await readFile(new URL("../../golden/hotpotqa-official.json", import.meta.url), "utf8"),
) as Golden;

const folder = temporaryFolder();
const facts = (pairs: Fact[]) => pairs.map(([title, sentence]) => ({ title, sentence }));

function expectExact(found: Record<string, number>, expected: Exact): void {
  expect(Object.keys(found)).toEqual(Object.keys(expected));
  for (const [name, fraction] of Object.entries(expected)) {
    const [numerator = NaN, denominator = 1] = fraction.split("/").map(Number);
    const value = found[name] ?? NaN;
    expect(Math.abs(value - numerator / denominator), name).toBeLessThanOrEqual(golden.tolerance);
  }
}

describe("scoreHotpotqa", () => {
  it("has at least forty edge cases with exact scores", () => {
    expect(golden.cases.length).toBeGreaterThanOrEqual(40);
    expect(hotpotqaMetrics.names).toEqual(Object.keys(golden.mean));
  });

  it.each(golden.cases)("scores exactly: $shows", (each) => {
    const { gold, goldFacts, predicted, predictedFacts, scores } = each;
    const found = scoreHotpotqa(
      { references: [gold], facts: facts(goldFacts) },
      {
        answer: predicted ?? undefined,
        facts: predictedFacts === null ? undefined : facts(predictedFacts),
      },
    );
    expectExact(found, scores);
  });

  it("takes the best of several references", () => {
    const { em, f1 } = scoreHotpotqa(
      { references: ["Saint Petersburg", "Leningrad"], facts: [] },
      { answer: "leningrad" },
    );
    expect({ em, f1 }).toEqual({ em: 1, f1: 1 });
  });
});

describe("the layout hotpotqa", () => {
  it("divides by the number of gold questions, whatever is missing from the files", async () => {
    const predictions = join(folder, "predictions.json");
    const references = join(folder, "gold.json");
    const halves = { answer: {}, sp: {} } as Record<"answer" | "sp", Record<string, unknown>>;
    const gold = golden.cases.map(({ gold: answer, goldFacts, predicted, predictedFacts }, i) => {
      if (predicted !== null) halves.answer[`q${i}`] = predicted;
      if (predictedFacts !== null) halves.sp[`q${i}`] = predictedFacts;
      return { _id: `q${i}`, question: `${i}?`, answer, supporting_facts: goldFacts, context: [] };
    });
    await writeFile(predictions, JSON.stringify(halves));
    await writeFile(references, JSON.stringify(gold));
    const { rows, shares } = await scoreLayouts
      .get("hotpotqa", "layout")
      .score({ predictions, references });
    const summary = summarizeScores(
      rows.map(({ scores }) => scores),
      { shares, seed: 0 },
    );
    expect(summary.n).toBe(golden.cases.length);
    expectExact(summary.metrics, golden.mean);
  });
});
