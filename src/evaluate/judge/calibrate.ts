import { ScoreError } from "../../base/errors.ts";
import { allOrAbort } from "../../http/concurrency.ts";
import { type Share, shareOf } from "../statistics.ts";
import { CALIBRATION_CASES, type CalibrationCase } from "../../rewards/judge/calibration-cases.ts";
import { isHttpFailure, type Judge, unreachable } from "./judge.ts";

/** Result of a judge on cases with a known verdict. */
export interface Calibration {
  /** Share of known right answers that it accepts, of those with a readable verdict. */
  rightAccepted: Share;
  /** Share of known wrong answers that it rejects. */
  wrongRejected: Share;
  unparsed: number;
  /** Cases by kind: their number, and how many were judged correctly. */
  kinds: Record<string, { n: number; right: number }>;
  mistakes: { id: string; question: string; prediction: string; verdict: string }[];
}

/** Limits that a judge must reach. */
export interface CalibrationBounds {
  /** Both rates, 0 to 1. */
  minimum: number;
  /** Allowed share of unreadable verdicts. */
  maxUnparsed: number;
}

/** The calibration cases that apply to a prompt. */
export function casesFor({ prompt }: Pick<Judge, "prompt">): CalibrationCase[] {
  return CALIBRATION_CASES.filter(({ kind }) => !prompt.leavesOut.includes(kind));
}

/** Asks a judge about known right and wrong answers. @throws {ScoreError} JUDGE_UNREACHABLE when a request fails. */
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

/** @throws {ScoreError} JUDGE_UNCALIBRATED when a rate is below the minimum, JUDGE_UNPARSABLE when too few verdicts could be read. */
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
      "(0 accepts every judge) and report that beside the result.",
  );
}

/** @throws {ScoreError} JUDGE_UNPARSABLE when more than the allowed share of verdicts could not be read. */
export function checkUnparsed(unparsed: number, n: number, maxUnparsed: number): void {
  if (unparsed <= maxUnparsed * n) return;
  throw new ScoreError(
    "JUDGE_UNPARSABLE",
    `${unparsed} of ${n} verdicts of the judge could not be read, also after a second request; at most ${maxUnparsed} of all is allowed. ` +
      "Raise --max-tokens if they were cut, use another --verdict-format or model, or raise --max-unparsed.",
  );
}
