import { DataError } from "../base/errors.ts";
import { readJsonl } from "../base/jsonl.ts";
import { checkOptions, z } from "../base/schema.ts";
import type { PreferencePair, Sample } from "./sample.ts";

/** Names of the files that `synth-data` writes to its folder. */
export const SAMPLE_FILES = {
  samples: "samples.jsonl",
  validation: "validation.jsonl",
  pairs: "pairs.jsonl",
  pairsValidation: "pairs-validation.jsonl",
} as const;

/** The fields that all readers need; other fields are kept unchanged. */
const trajectoryShape = z.looseObject({
  id: z.string(),
  calls: z.array(z.looseObject({})),
  turns: z.array(z.looseObject({})),
  end: z.string(),
});

export const taskShape = z.looseObject({
  id: z.string(),
  question: z.string(),
  references: z.array(z.string()),
  annotations: z.looseObject({}),
});

export const candidateShape = z.looseObject({
  id: z.string(),
  trajectory: trajectoryShape,
  weight: z.number().min(0),
  scores: z.record(z.string(), z.number()),
  provenance: z.looseObject({
    settings: z.string(),
    seed: z.number(),
    draw: z.looseObject({ name: z.string(), number: z.int() }),
    steps: z.array(z.looseObject({ name: z.string() })),
  }),
});

const sampleShape = candidateShape.extend({ task: taskShape });

const pairShape = z.looseObject({
  id: z.string(),
  task: taskShape,
  chosen: candidateShape,
  rejected: candidateShape,
  fromTurn: z.int().min(0).optional(),
  turns: z.int().min(1).optional(),
  margin: z.number(),
});

/** A row of a file with its place, for messages. */
export type PlacedRow<T> = { row: T; where: string };

/** The samples of a file, streamed. @throws {DataError} DATA_BAD_RECORD with file:line; JSONL_BAD_LINE, FILE_MISSING */
export function readSamples(path: string): AsyncGenerator<PlacedRow<Sample>> {
  return readRows<Sample>(path, sampleShape, "a sample");
}

/** The preference pairs of a file, streamed. @throws as `readSamples`. */
export function readPairs(path: string): AsyncGenerator<PlacedRow<PreferencePair>> {
  return readRows<PreferencePair>(path, pairShape, "a preference pair");
}

/** The rows of a JSON-lines file, each checked against a schema. @param kind what a row is, for messages. @throws as `readSamples`. */
export async function* readRows<T>(
  path: string,
  shape: z.ZodType,
  kind: string,
  options: { tolerateCutEnd?: boolean } = {},
): AsyncGenerator<PlacedRow<T>> {
  for await (const { value, line } of readJsonl(path, options)) {
    const where = `${path}:${line}`;
    const { problem } = checkOptions(shape, value);
    if (problem !== null) {
      const place = problem.path.length === 0 ? "the line" : problem.path.join(".");
      throw new DataError(
        "DATA_BAD_RECORD",
        `${where}: is not ${kind} as agentrl synth-data writes it: ${place} ${problem.message} Correct or delete the line.`,
      );
    }
    // The original object: a copy made by the schema would change the order of keys.
    yield { row: value as T, where };
  }
}
