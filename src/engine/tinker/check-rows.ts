import { DataError, InternalError } from "../../base/errors.ts";
import { isScored, type TrainingRow } from "../engine.ts";

/** Some servers accept ragged arrays, unknown tokens and too long sequences in silence. @throws PROMPT_TOO_LONG, LOSS_FIELD_MISSING */
export function checkRows(
  rows: readonly TrainingRow[],
  { maxPositions, vocabSize }: { maxPositions: number; vocabSize: number },
): void {
  rows.forEach((row, index) => {
    const { inputs, targets, fields } = row;
    if (inputs.length > maxPositions) {
      const message = `row ${index}: has ${inputs.length} tokens, but the model has ${maxPositions} positions. Shorten observations or turns.`;
      throw new DataError("PROMPT_TOO_LONG", message);
    }
    const bad = (what: string): InternalError =>
      new InternalError("LOSS_FIELD_MISSING", `row ${index}: ${what}.`);
    if (inputs.length !== targets.length)
      throw bad(`${inputs.length} inputs, but ${targets.length} targets`);
    const isStray = (id: number): boolean => !(id >= 0 && id < vocabSize);
    const stray = inputs.find(isStray) ?? targets.find(isStray);
    if (stray !== undefined) throw bad(`token ${stray} of a vocabulary of ${vocabSize}`);
    for (const [name, values] of Object.entries(fields)) {
      if (values.length !== targets.length)
        throw bad(`field "${name}" has ${values.length} values for ${targets.length} targets`);
      const at = values.findIndex((value, i) => !Number.isFinite(value) && isScored(row, i));
      if (at >= 0) throw bad(`field "${name}" is ${values[at]} at token ${at}`);
    }
  });
}
