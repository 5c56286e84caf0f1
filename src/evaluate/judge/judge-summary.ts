import { shortHash } from "../fingerprint.ts";
import { type Interval, type Share, shareOf } from "../statistics.ts";
import { type Agreement, agreementOf } from "./agreement.ts";
import type { Calibration, JudgeIdentity } from "./judge.ts";
import type { JudgedRow } from "./judged-row.ts";

/** Result of a judge's run: `judge.json`. */
export interface JudgeSummary {
  n: number;
  judged: number;
  notEvaluated: number;
  errors: Record<string, number>;
  /** Judged answers that are empty, so wrong without asking. */
  byRule: number;
  metrics: {
    judge_accuracy: number | null;
    em: number | null;
    f1: number | null;
    cover_em: number | null;
  };
  /** Wilson's; a bootstrap over questions if a question has several draws, which are not independent. */
  intervals: { judge_accuracy: Interval | null };
  /** Accuracy if all unevaluated answers were wrong, and if all were right. */
  bounds: { judge_accuracy: Interval };
  verdicts: Record<string, number>;
  calibration: Calibration | null;
  /** Agreement of the judge with string metrics; `falseAccept`: the metric says wrong, the judge right. */
  agreement: { em: Agreement; "f1>=0.5": Agreement; cover_em: Agreement };
  /** Answers whose repeats disagree; null without repeats. */
  flips: Share | null;
  reasked: number;
  judge: JudgeIdentity & { repeats: number };
  fingerprint: string;
}

/** @param options.seed of bootstrap intervals. */
export function judgeSummary(
  rows: readonly JudgedRow[],
  options: { judge: JudgeIdentity; repeats: number; calibration: Calibration | null; seed: number },
): JudgeSummary {
  const { judge, repeats, calibration, seed } = options;
  const judged = rows.flatMap((row) =>
    row.correct === null ? [] : [{ ...row, correct: row.correct }],
  );
  const right = judged.filter(({ correct }) => correct).length;
  const mean = (of: (row: JudgedRow) => number): number | null =>
    judged.length === 0 ? null : judged.reduce((sum, row) => sum + of(row), 0) / judged.length;
  const agreementWith = (accepts: (row: JudgedRow) => boolean): Agreement =>
    agreementOf(
      judged.map((row) => ({ question: row.id, expected: accepts(row), given: row.correct })),
      { seed },
    );
  return {
    n: rows.length,
    judged: judged.length,
    notEvaluated: rows.length - judged.length,
    errors: countBy(rows.flatMap(({ problem }) => problem?.code ?? [])),
    byRule: rows.filter(({ byRule }) => byRule === true).length,
    metrics: {
      judge_accuracy: judged.length === 0 ? null : right / judged.length,
      em: mean(({ em }) => em),
      f1: mean(({ f1 }) => f1),
      cover_em: mean(({ cover_em }) => cover_em),
    },
    intervals: {
      judge_accuracy: agreementOf(
        judged.map(({ id, correct }) => ({ question: id, expected: true, given: correct })),
        { seed },
      ).accuracy.ci95,
    },
    bounds: {
      judge_accuracy: [right / rows.length, (right + rows.length - judged.length) / rows.length],
    },
    verdicts: countBy(rows.flatMap(({ verdicts }) => verdicts.filter((each) => each !== null))),
    calibration,
    agreement: {
      em: agreementWith(({ em }) => em === 1),
      "f1>=0.5": agreementWith(({ f1 }) => f1 >= 0.5),
      cover_em: agreementWith(({ cover_em }) => cover_em === 1),
    },
    flips: repeats === 1 ? null : flipsOf(rows),
    reasked: rows.reduce((sum, { reasked }) => sum + reasked, 0),
    judge: { ...judge, repeats },
    fingerprint: shortHash({
      judge,
      repeats,
      questions: rows.map(({ id, sample, question, references }) => [
        id,
        sample,
        question,
        references,
      ]),
    }),
  };
}

function flipsOf(rows: readonly JudgedRow[]): Share {
  const repeated = rows
    .map(({ verdicts }) => verdicts.filter((verdict) => verdict !== null))
    .filter((verdicts) => verdicts.length > 1);
  return shareOf(repeated.map((verdicts) => new Set(verdicts).size > 1));
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of [...names].sort()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
