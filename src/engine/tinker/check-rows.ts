import { DataError, InternalError } from "../../base/errors.ts";
import { isScored, type TrainingRow } from "../engine.ts";

/**
 * Checks rows before they are sent: some servers accept arrays of unequal length, unknown tokens and sequences that are too long in
 * silence.
 * @throws {DataError} PROMPT_TOO_LONG
 * @throws {InternalError} LOSS_FIELD_MISSING
 */
export function checkRows(
  rows: readonly TrainingRow[],
  { maxPositions, vocabSize }: { maxPositions: number; vocabSize: number },
): void {
  rows.forEach((row, index) => {
    const { inputs, targets, fields } = row;
    if (inputs.length > maxPositions) {
      throw new DataError(
        "PROMPT_TOO_LONG",
        `row ${index}: has ${inputs.length} tokens, but the model has ${maxPositions} positions. Shorten observations or turns.`,
      );
    }
    const bad = (what: string): InternalError =>
      new InternalError("LOSS_FIELD_MISSING", `row ${index}: ${what}.`);
    if (inputs.length !== targets.length)
      throw bad(`${inputs.length} inputs, but ${targets.length} targets`);
    const stray = [...inputs, ...targets].find((id) => !(id >= 0 && id < vocabSize));
    if (stray !== undefined) throw bad(`token ${stray} of a vocabulary of ${vocabSize}`);
    for (const [name, values] of Object.entries(fields)) {
      if (values.length !== targets.length)
        throw bad(`field "${name}" has ${values.length} values for ${targets.length} targets`);
      const at = values.findIndex((value, i) => !Number.isFinite(value) && isScored(row, i));
      if (at >= 0) throw bad(`field "${name}" is ${values[at]} at token ${at}`);
    }
  });
}
