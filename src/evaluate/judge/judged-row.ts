import type { ExternalError } from "../../base/errors.ts";
import { answerScores } from "../metrics/answer-metrics.ts";
import { saysNothing, type VerdictProblem } from "../../rewards/judge/judge-prompt.ts";
import { isHttpFailure, type Judge, type Verdict } from "./judge.ts";

/** An answer to judge, with its question. */
export interface AnswerToJudge {
  id: string;
  sample: number;
  question: string;
  references: readonly string[];
  /** null: no answer, which is wrong without asking. */
  prediction: string | null;
}

/** Why an answer was not evaluated: its verdicts could not be read or were tied, or a request failed. */
type NotEvaluated =
  | { code: VerdictProblem | "tie"; message?: undefined }
  | { code: ExternalError["code"]; message: string };

/** A judged answer: a line of `verdicts.jsonl`. */
export interface JudgedRow extends AnswerToJudge {
  correct: boolean | null;
  /** Verdict of each repeat, as the prompt spells it; null if it could not be read. Empty with `byRule`. */
  verdicts: (string | null)[];
  reason: string;
  byRule?: true;
  problem?: NotEvaluated;
  reasked: number;
  /** Each from 0 to 1, by the "squad" normalisation. */
  em: number;
  f1: number;
  cover_em: number;
}

/** Judges one answer: the majority of its repeats. A failed request makes it "not evaluated"; every other error is thrown. */
export async function judgedRow(
  judge: Judge,
  answer: AnswerToJudge,
  options: { repeats: number; signal?: AbortSignal | undefined },
): Promise<JudgedRow> {
  const { question, references } = answer;
  const prediction = answer.prediction ?? "";
  const { em, f1, cover_em } = answerScores({ prediction, references });
  const row = { ...answer, em: em ?? 0, f1: f1 ?? 0, cover_em: cover_em ?? 0 };
  if (answer.prediction === null || saysNothing({ prediction, references }))
    return { ...row, correct: false, verdicts: [], reason: "", byRule: true, reasked: 0 };
  try {
    const verdicts: Verdict[] = [];
    for (let repeat = 0; repeat < options.repeats; repeat++) {
      const asked = { question, references, prediction };
      verdicts.push(await judge.judge(asked, { repeat, signal: options.signal }));
    }
    return { ...row, ...majority(verdicts) };
  } catch (error) {
    if (!isHttpFailure(error)) throw error;
    const problem = { code: error.code, message: error.message };
    return { ...row, correct: null, verdicts: [], reason: "", problem, reasked: 0 };
  }
}

/** The majority of the repeats of one case; a tie is not evaluated. */
export function majority(
  verdicts: readonly Verdict[],
): Pick<JudgedRow, "correct" | "verdicts" | "reason" | "problem" | "reasked"> {
  const votes = verdicts.filter(({ correct }) => correct === true).length;
  const against = verdicts.filter(({ correct }) => correct === false).length;
  const correct = votes === against ? null : votes > against;
  const unread = verdicts.find(({ problem }) => problem !== null)?.problem ?? "tie";
  return {
    correct,
    verdicts: verdicts.map(({ verdict }) => verdict),
    reason:
      correct === null ? "" : (verdicts.find((each) => each.correct === correct)?.reason ?? ""),
    problem: correct === null ? { code: votes + against > 0 ? "tie" : unread } : undefined,
    reasked: verdicts.filter(({ reasked }) => reasked).length,
  };
}
