import { ExternalError } from "../../base/errors.ts";
import type { TrainingRow } from "../engine.ts";
import type { Connection, WireAnswer } from "./connection.ts";
import { replyOfJson, replySchema } from "./json-messages.ts";
import { decodeReply, type ForwardBackwardCall, type ForwardBackwardReply } from "./messages.ts";

/** Rows and bytes of one forward_backward, at most (the SDK's limits are 1024 rows and 5 MB). */
const MAX_ROWS = 256;
const MAX_NUMBERS = 400_000;

/** The result of `forward_backward`, in either encoding. @throws {ExternalError} HTTP_BAD_REPLY */
export function readReply(
  { bytes, json }: WireAnswer,
  { where }: Connection,
): ForwardBackwardReply {
  try {
    return json === null || json === undefined
      ? decodeReply(bytes)
      : replyOfJson(replySchema.parse(json));
  } catch (error) {
    throw badReply(where, error instanceof Error ? error.message : "");
  }
}

function badReply(where: string, what: string): ExternalError {
  const message = `${where}, forward_backward: the result is not of the expected form: ${what}. Nothing was learned since the last checkpoint; continue with --resume.`;
  return new ExternalError("HTTP_BAD_REPLY", message);
}

/** @throws {ExternalError} HTTP_BAD_REPLY when a row has no log-probability for each of its targets. */
export function checkedOutputs(
  { outputs }: ForwardBackwardReply,
  rows: ForwardBackwardCall["rows"],
  { where }: Connection,
): Float32Array[] {
  return rows.map(({ tokens }, i) => {
    const logprobs = outputs[i]?.["logprobs"];
    if (logprobs?.length === tokens.length) return new Float32Array(logprobs);
    throw badReply(
      where,
      `row ${i} has ${logprobs?.length ?? "no"} log-probabilities for ${tokens.length} tokens`,
    );
  });
}

/** Rows in the order given, in calls that servers take. */
export function* chunksOf(rows: readonly TrainingRow[]): Generator<TrainingRow[]> {
  let chunk: TrainingRow[] = [];
  let numbers = 0;
  for (const row of rows) {
    const size = 4 * row.inputs.length;
    if (chunk.length === MAX_ROWS || (chunk.length > 0 && numbers + size > MAX_NUMBERS)) {
      yield chunk;
      [chunk, numbers] = [[], 0];
    }
    chunk.push(row);
    numbers += size;
  }
  if (chunk.length > 0) yield chunk;
}
