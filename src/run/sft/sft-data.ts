import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError, DataError } from "../../base/errors.ts";
import { sha256, sha256File } from "../../base/files.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import type { Student } from "../../algorithms/student-rows.ts";
import type { Sample } from "../../trajectory/sample.ts";
import { readSamples, SAMPLE_FILES } from "../../trajectory/sample-files.ts";
import {
  type LearnedSample,
  readSample,
  type SampleReading,
} from "../../algorithms/sample-rows.ts";
import type { SftSamplesSettings } from "../../algorithms/sft.ts";
import { drawnReader } from "./student.ts";

/** Where a run's samples lie. */
export interface SampleFiles {
  train: readonly string[];
  /** Empty: nothing is measured on the way. */
  validation: readonly string[];
}

/** Files of samples as a model is trained on them. */
export interface LoadedSamples {
  /** All of them, with commas. */
  file: string;
  /** Of the file; of several, of their hashes. */
  sha256: string;
  samples: LearnedSample[];
  /** Tokens that are computed in one epoch, and those of them that are learned. */
  tokens: number;
  learned: number;
  /** Samples that were left out, each named. */
  tooLong: { id: string; tokens: number }[];
  nothingToLearn: string[];
  /** Left out since their weight is 0. */
  weightless: string[];
}

/**
 * The files that `sft.data` and `sft.validationData` name; in the folder of a synthesis, its output files.
 * @param where names the recipe, for messages.
 * @throws {ConfigError} RECIPE_BAD_VALUE when no data is named.
 * @throws {DataError} FILE_MISSING when it is not there, or a folder holds no samples.
 */
export async function findSampleFiles(
  { data, validationData }: Pick<SftSamplesSettings, "data" | "validationData">,
  where: string,
): Promise<SampleFiles> {
  if (data === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${where}: sft has neither "data" nor "curriculum"; name the folder of a synthesis or a file of samples (--data), or set sft.curriculum to train on a stream of the tiny world.`,
    );
  }
  const found: { train: string; own: string | null }[] = [];
  for (const place of [data].flat()) found.push(await samplesAt(place));
  const train = found.map((each) => each.train);
  if (validationData === null) return { train, validation: [] };
  if (validationData !== undefined) {
    if (existsSync(validationData)) return { train, validation: [validationData] };
    const message = `sft.validationData is ${validationData}: does not exist.`;
    throw new DataError("FILE_MISSING", message);
  }
  return { train, validation: found.flatMap(({ own }) => own ?? []) };
}

/** The samples of a synthesis's folder and those it set apart, or those of a file. */
async function samplesAt(data: string): Promise<{ train: string; own: string | null }> {
  const isFolder = await stat(data).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const train = isFolder ? join(data, SAMPLE_FILES.samples) : data;
  if (!existsSync(train)) {
    throw new DataError(
      "FILE_MISSING",
      `sft.data is ${data}: ${isFolder ? `has no ${SAMPLE_FILES.samples}, which agentrl synth-data writes when it is done` : "does not exist"}.`,
    );
  }
  const own = join(data, SAMPLE_FILES.validation);
  return { train, own: isFolder && existsSync(own) ? own : null };
}

/** The student, and how it reads the data. */
export interface SampleReader {
  engine: Pick<PolicyEngine, "capabilities">;
  student: Student;
  settings: SftSamplesSettings;
}

/**
 * Reads files of samples and makes token sequences of them. It leaves out those that cannot be trained on, and names them.
 *
 * @param purpose validation may have no samples, and their weights do not matter.
 * @throws {DataError} SAMPLE_TOO_LONG with `onTooLong: error`; SAMPLES_UNUSABLE when none is left to learn from; as `readSamples` and
 *   `readSample`.
 */
export async function loadSamples(
  files: readonly string[],
  { engine, student, settings }: SampleReader,
  purpose: "training" | "validation",
): Promise<LoadedSamples> {
  const { hints, lines, earlierPrompts } = settings;
  const { maxPositions } = engine.capabilities;
  const reading: Omit<SampleReading, "drawnWith"> = {
    student,
    hints,
    lines,
    earlierPrompts,
    maxTokens: Math.min(settings.maxTokens ?? maxPositions, maxPositions),
  };
  const readDrawn = drawnReader();
  const hashes: string[] = [];
  for (const file of files) hashes.push(await sha256File(file));
  const loaded: LoadedSamples = {
    file: files.join(", "),
    sha256: hashes.length === 1 ? hashes.join() : sha256(hashes.join()),
    samples: [],
    tokens: 0,
    learned: 0,
    tooLong: [],
    nothingToLearn: [],
    weightless: [],
  };
  for await (const { row, where } of samplesOf(files)) {
    if (purpose === "training" && settings.weighted && row.weight === 0) {
      loaded.weightless.push(row.id);
      continue;
    }
    const found = await readDrawn(row, (drawnWith) =>
      readSample(row, { ...reading, drawnWith }, where),
    );
    if (!("reason" in found)) {
      loaded.samples.push(found);
      loaded.tokens += found.tokens;
      loaded.learned += found.learned;
    } else if (found.reason === "nothing-to-learn") loaded.nothingToLearn.push(row.id);
    else {
      const { tokens } = found;
      if (settings.onTooLong === "error") throw tooLong({ row, where, tokens }, reading.maxTokens);
      loaded.tooLong.push({ id: row.id, tokens });
    }
  }
  if (purpose === "training" && loaded.samples.length === 0) throw unusable(loaded, reading);
  return loaded;
}

async function* samplesOf(files: readonly string[]): ReturnType<typeof readSamples> {
  for (const file of files) yield* readSamples(file);
}

function tooLong(
  { row, where, tokens }: { row: Sample; where: string; tokens: number },
  maxTokens: number,
): DataError {
  return new DataError(
    "SAMPLE_TOO_LONG",
    `${where}: sample ${row.id} has ${tokens} tokens, of which ${maxTokens} fit. Take it out, raise sft.maxTokens or take a model with more positions, or leave such samples out (sft.onTooLong: drop).`,
  );
}

function unusable(
  { file, tooLong, nothingToLearn, weightless }: LoadedSamples,
  { maxTokens }: Pick<SampleReading, "maxTokens">,
): DataError {
  const left = tooLong.length + nothingToLearn.length + weightless.length;
  if (left === 0) return new DataError("SAMPLES_UNUSABLE", `${file}: the file is empty.`);
  return new DataError(
    "SAMPLES_UNUSABLE",
    `${file}: has no sample to learn from: ${tooLong.length} are longer than ${maxTokens} tokens, in ${nothingToLearn.length} the policy wrote nothing, ${weightless.length} have weight 0. Draw more, or take a model with more positions.`,
  );
}
