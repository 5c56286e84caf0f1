import { fixed } from "../../base/format.ts";
import { mean } from "../../base/statistics.ts";
import type { CalibrationResult, ClaimResult } from "./claim-results.ts";

const value = fixed(3);

/** What the control must show, and what its runs measured. */
export interface CalibrationRuns extends Pick<CalibrationResult, "metric" | "seeds"> {
  start: { range: CalibrationResult["start"]["range"]; values: readonly number[] };
  end: { range: CalibrationResult["end"]["range"]; values: readonly number[] };
}

/** Whether the control begins and ends where methods can differ. */
export function calibrationOf({ metric, seeds, start, end }: CalibrationRuns): CalibrationResult {
  const judged = ({ range, values }: CalibrationRuns["start"]) => {
    const measured = mean(values);
    return { range, mean: measured, isInside: measured >= range[0] && measured <= range[1] };
  };
  return { metric, seeds, start: judged(start), end: judged(end) };
}

/**
 * Takes back what the miniature cannot have shown: where a positive control is not found after the last look, or the control ends at a floor
 * or a ceiling, a claim that is undecided or ruled out is "not able to show". A difference that was found stays found, in either direction.
 * @param lastLevel level of the last look: a control that was looked at earlier may still be found.
 */
export function judgedByInstrument(
  claims: readonly ClaimResult[],
  calibration: CalibrationResult | null,
  lastLevel: number,
): ClaimResult[] {
  const final = claims.filter(({ level }) => level === lastLevel);
  const reasons = [...endsOfRange(calibration), ...failedControls(final)];
  if (reasons.length === 0) return [...claims];
  const instrument = reasons.join("; ");
  return claims.map((claim) =>
    claim.role === "claim" && (claim.verdict === "undecided" || claim.verdict === "ruled out")
      ? { ...claim, verdict: "not able to show", instrument }
      : claim,
  );
}

/** Below the first and above the second value of a share nothing can be told apart. */
const [FLOOR, CEILING] = [0.02, 0.95];

/** In words, whether the control ends where no arm can differ. */
function endsOfRange(calibration: CalibrationResult | null): string[] {
  if (calibration === null) return [];
  const { metric, end } = calibration;
  if (end.mean >= FLOOR && end.mean <= CEILING) return [];
  const where = end.mean < FLOOR ? "floor" : "ceiling";
  return [`the control ends at ${metric} ${value(end.mean)}, at the ${where}`];
}

/** In words, what is wrong with the control: a warning. */
export function calibrationProblems(calibration: CalibrationResult | null): string[] {
  if (calibration === null) return [];
  const { metric, start, end } = calibration;
  const problem = (when: string, { range, mean: measured, isInside }: typeof start): string[] =>
    isInside
      ? []
      : [`the control ${when} at ${metric} ${value(measured)}, outside ${range.join(" to ")}`];
  return [...problem("starts", start), ...problem("ends", end)];
}

function failedControls(claims: readonly ClaimResult[]): string[] {
  return claims.flatMap(({ role, id, verdict }) =>
    role !== "positive-control" || verdict === "supported" || verdict === "not tested"
      ? []
      : [`the positive control ${id} is ${verdict === "undecided" ? "not found" : verdict}`],
  );
}
