import type { ExternalError } from "../../base/errors.ts";
import { answerScores } from "../metrics/answer-metrics.ts";
import type { JudgeCase, VerdictProblem } from "./judge-prompt.ts";
import { isHttpFailure, type Judge, type Verdict } from "./judge.ts";

const SAYS_SOMETHING = /[^\p{P}\p{Z}\p{C}$+<=>^`|~]/u;

/**
 * Whether an answer says nothing: no character beside punctuation, ASCII symbols, white space and characters without width. It is
 * wrong without asking: judges take such answers for right at rates up to a half (arXiv 2505.22203, table 3).
 *
 * An answer that equals an accepted one to the character (`?`) is asked about.
 */
export function saysNothing({ prediction, references }: Omit<JudgeCase, "question">): boolean {
  return !SAYS_SOMETHING.test(prediction) && !references.includes(prediction.trim());
}

/** An answer to be judged, with what it belongs to. */
export interface AnswerToJudge {
  id: string;
  /** Which draw of the question, from 0. */
  sample: number;
  question: string;
  references: readonly string[];
  /** null: none was given, which is wrong without asking. */
  prediction: string | null;
}

/** Why an answer was not evaluated: its verdicts could not be read, were a draw, or a request failed. */
type NotEvaluated =
  | { code: VerdictProblem | "tie"; message?: undefined }
  | { code: ExternalError["code"]; message: string };

/** A judged answer: a line of `verdicts.jsonl`. */
export interface JudgedRow extends AnswerToJudge {
  /** null when it was not evaluated. */
  correct: boolean | null;
  /** As the prompt spells it, of each repeat; null where it could not be read. Empty: `byRule`. */
  verdicts: (string | null)[];
  /** The judge's sentence, of the first repeat on the winning side. */
  reason: string;
  /** The answer says nothing: wrong without asking. */
  byRule?: true;
  problem?: NotEvaluated;
  /** Verdicts for which the judge was asked once more. */
  reasked: number;
  /** Each from 0 to 1, by the "squad" normalisation. */
  em: number;
  f1: number;
  cover_em: number;
}

/**
 * Judges one answer: the majority of its repeats.
 * A request that fails makes it not evaluated; every other failure is thrown.
 */
export async function judgedRow(
  judge: Judge,
  answer: AnswerToJudge,
  options: { repeats: number; signal?: AbortSignal | undefined },
): Promise<JudgedRow> {
  const { question, references } = answer;
  const prediction = answer.prediction ?? "";
  const { em, f1, cover_em } = answerScores({ prediction, references });
  const row = { ...answer, em: em ?? 0, f1: f1 ?? 0, cover_em: cover_em ?? 0 };
  if (answer.prediction === null || saysNothing({ prediction, references })) {
    return { ...row, correct: false, verdicts: [], reason: "", byRule: true, reasked: 0 };
  }
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

/** What the repeats of one case come to; without one side in the majority it is not evaluated. */
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
    ...(correct === null ? { problem: { code: votes + against > 0 ? "tie" : unread } } : {}),
    reasked: verdicts.filter(({ reasked }) => reasked).length,
  };
}
