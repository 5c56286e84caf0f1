import type { EvaluationRow } from "../../src/evaluate/evaluation-row.ts";

/** A row of a question that was answered at once: right where em is 1, else wrong by every metric. */
export function madeRow(id: string, em: number, more: Partial<EvaluationRow> = {}): EvaluationRow {
  return {
    id,
    sample: 0,
    question: "?",
    references: ["x"],
    answer: em === 1 ? "x" : "y",
    em,
    f1: em,
    precision: em,
    recall: em,
    cover_em: em,
    token_cover: em,
    drop_em: em,
    drop_f1: em,
    searches: 0,
    queries: [],
    turns: 1,
    invalidTurns: 0,
    end: "answered",
    formatOk: true,
    tokens: 1,
    ...more,
  };
}
