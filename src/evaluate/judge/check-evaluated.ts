import { ScoreError } from "../../base/errors.ts";
import { checkUnparsed } from "./calibrate.ts";
import type { JudgedRow } from "./judged-row.ts";

/**
 * Says whether what was judged can be called evaluated; call it after the results are written.
 *
 * @param maxUnparsed share of answers whose verdict may be unreadable.
 * @throws {ScoreError} JUDGE_UNREACHABLE when a request failed, JUDGE_UNPARSABLE when too many verdicts could not be read.
 */
export function checkEvaluated(rows: readonly JudgedRow[], maxUnparsed: number): void {
  const failed = rows.flatMap(({ problem }) => (problem?.message === undefined ? [] : problem));
  const [first] = failed;
  if (first !== undefined) {
    throw new ScoreError(
      "JUDGE_UNREACHABLE",
      `${failed.length} of ${rows.length} answers were not evaluated because a request failed; the first: ${first.message} They count neither as ` +
        "right nor as wrong; the same command with --resume tries them again.",
    );
  }
  const unread = rows.filter(({ problem }) => problem !== undefined && problem.code !== "tie");
  checkUnparsed(unread.length, rows.length, maxUnparsed);
}
