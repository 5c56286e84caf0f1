import { ScoreError } from "../../base/errors.ts";
import { allOrAbort } from "../../http/concurrency.ts";
import { type Share, shareOf } from "../statistics.ts";
import { CALIBRATION_CASES, type CalibrationCase } from "./calibration-cases.ts";
import { isHttpFailure, type Judge, unreachable } from "./judge.ts";

/** How a judge does on cases whose verdict is known. */
export interface Calibration {
  /** Known right answers that it accepts, of those on which its verdict could be read. */
  rightAccepted: Share;
  /** Known wrong answers that it rejects. */
  wrongRejected: Share;
  /** Cases on which its verdict could not be read. */
  unparsed: number;
  /** Cases by kind: how many, and how many were judged rightly. */
  kinds: Record<string, { n: number; right: number }>;
  mistakes: { id: string; question: string; prediction: string; verdict: string }[];
}

/** What a judge must reach. */
export interface CalibrationBounds {
  /** Both rates, 0 to 1. */
  minimum: number;
  /** Verdicts that cannot be read, as a share of all. */
  maxUnparsed: number;
}

/** The calibration cases on which a prompt has no opinion of its own. */
export function casesFor({ prompt }: Pick<Judge, "prompt">): CalibrationCase[] {
  return CALIBRATION_CASES.filter(({ kind }) => !prompt.leavesOut.includes(kind));
}

/**
 * Asks a judge about answers that are known to be right or wrong.
 * @throws {ScoreError} JUDGE_UNREACHABLE when a request fails.
 */
export async function calibrate(judge: Judge, signal?: AbortSignal): Promise<Calibration> {
  const cases = casesFor(judge);
  const ask = (asked: CalibrationCase, stop: AbortSignal): ReturnType<Judge["judge"]> =>
    judge.judge(asked, { signal: stop });
  const verdicts = await allOrAbort(cases, ask, signal).catch((error: unknown) => {
    throw isHttpFailure(error) ? unreachable("The judge failed while calibrated", error) : error;
  });
  const judged = cases.flatMap((asked, i) => {
    const { correct = null, verdict = null } = verdicts[i] ?? {};
    return correct === null || verdict === null
      ? []
      : [{ ...asked, verdict, agrees: correct === asked.correct }];
  });
  const kinds: Calibration["kinds"] = {};
  for (const { kind, agrees } of judged) {
    const group = (kinds[kind] ??= { n: 0, right: 0 });
    group.n += 1;
    group.right += Number(agrees);
  }
  const agreesOf = (correct: boolean): boolean[] =>
    judged.filter((each) => each.correct === correct).map(({ agrees }) => agrees);
  return {
    rightAccepted: shareOf(agreesOf(true)),
    wrongRejected: shareOf(agreesOf(false)),
    unparsed: cases.length - judged.length,
    kinds,
    mistakes: judged
      .filter(({ agrees }) => !agrees)
      .map(({ id, question, prediction, verdict }) => ({ id, question, prediction, verdict })),
  };
}

/**
 * @throws {ScoreError} JUDGE_UNCALIBRATED when a rate is below the minimum, JUDGE_UNPARSABLE when too few verdicts could be read
 *   to tell.
 */
export function checkCalibration(
  { rightAccepted, wrongRejected, unparsed }: Calibration,
  { minimum, maxUnparsed }: CalibrationBounds,
): void {
  checkUnparsed(unparsed, rightAccepted.n + wrongRejected.n + unparsed, maxUnparsed);
  if ((rightAccepted.rate ?? 0) >= minimum && (wrongRejected.rate ?? 0) >= minimum) return;
  throw new ScoreError(
    "JUDGE_UNCALIBRATED",
    `The judge accepts ${rightAccepted.count} of ${rightAccepted.n} answers known to be right and rejects ${wrongRejected.count} of ` +
      `${wrongRejected.n} known to be wrong; both must reach ${minimum}. Take another model or --prompt, or lower --min-calibration ` +
      "(0 lets every judge through) and say so beside the result.",
  );
}

/** @throws {ScoreError} JUDGE_UNPARSABLE when more than the allowed share of verdicts could not be read. */
export function checkUnparsed(unparsed: number, n: number, maxUnparsed: number): void {
  if (unparsed <= maxUnparsed * n) return;
  throw new ScoreError(
    "JUDGE_UNPARSABLE",
    `${unparsed} of ${n} verdicts of the judge could not be read, not even when it was asked again; at most ${maxUnparsed} of all may. ` +
      "Raise --max-tokens where they were cut, take another --verdict-format or model, or raise --max-unparsed.",
  );
}
