import { ExternalError, ScoreError } from "../../base/errors.ts";
import { allOrAbort, limiter } from "../../http/concurrency.ts";
import { type Judge, checkUnparsed, unreachable } from "./judge.ts";
import { type AnswerToJudge, type JudgedRow, judgedRow } from "./judged-row.ts";
import type { VerdictLog } from "./verdict-log.ts";

/** Failed requests in a row after which the judge counts as unreachable. */
const FAILURES_IN_A_ROW = 16;

/** Options of judging. */
export interface JudgingOptions {
  repeats: number;
  concurrency: number;
  log?: VerdictLog;
  signal?: AbortSignal | undefined;
  onRow?: (row: JudgedRow, done: number) => void;
}

/** Judges answers, keeps the log's rows and appends each new one. @throws {ScoreError} JUDGE_UNREACHABLE after many failures in a row. */
export async function judgeAnswers(
  judge: Judge,
  answers: readonly AnswerToJudge[],
  { repeats, concurrency, log, signal, onRow }: JudgingOptions,
): Promise<JudgedRow[]> {
  const turns = limiter(concurrency);
  let failures = 0;
  let done = 0;
  const judgeOne = async (answer: AnswerToJudge, stop: AbortSignal): Promise<JudgedRow> => {
    const known = log?.known(answer);
    const row = known ?? (await judgedRow(judge, answer, { repeats, signal: stop }));
    if (known === undefined) await log?.append(row);
    const failed = row.problem?.message;
    failures = failed === undefined ? 0 : failures + 1;
    if (failed !== undefined && failures >= FAILURES_IN_A_ROW)
      throw unreachable(
        `${failures} requests failed one after the other`,
        new ExternalError("HTTP_UNREACHABLE", failed),
      );
    done += 1;
    onRow?.(row, done);
    return row;
  };
  return allOrAbort(
    answers,
    (answer, stop) => turns.run(() => judgeOne(answer, stop), stop),
    signal,
  );
}

/** Checks that answers were evaluated, after results are written. @throws {ScoreError} JUDGE_UNREACHABLE; JUDGE_UNPARSABLE for too many. */
export function checkEvaluated(rows: readonly JudgedRow[], maxUnparsed: number): void {
  const failed = rows.flatMap(({ problem }) => (problem?.message === undefined ? [] : problem));
  const [first] = failed;
  if (first !== undefined)
    throw new ScoreError(
      "JUDGE_UNREACHABLE",
      `${failed.length} of ${rows.length} answers were not evaluated because a request failed; the first: ${first.message} They count neither as ` +
        "right nor as wrong; the same command with --resume retries them.",
    );
  const unread = rows.filter(({ problem }) => problem !== undefined && problem.code !== "tie");
  checkUnparsed(unread.length, rows.length, maxUnparsed);
}
