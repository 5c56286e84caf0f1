import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type PairRows, type UnusablePair, pairRows } from "../../algorithms/preference-rows.ts";
import type { PreferenceSettings } from "../../algorithms/preference.ts";
import { sequencesOf } from "../../algorithms/sample-rows.ts";
import type { Student } from "../../algorithms/student-rows.ts";
import { ConfigError, DataError } from "../../base/errors.ts";
import { sha256File } from "../../base/files.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import { SAMPLE_FILES, readPairs } from "../../trajectory/sample-files.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import type { TokenRow } from "../../trajectory/trajectory.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { RunRecord } from "../settings/resolved-yaml.ts";
import { drawnReader } from "./student.ts";

/** A file of pairs as a model is trained on it. */
export interface LoadedPairs {
  file: string;
  sha256: string;
  pairs: PairRows[];
  /** Pairs that were left out, by reason. */
  skipped: Partial<Record<UnusablePair, number>>;
}

/** Where a run's pairs lie. */
export interface PairFiles {
  train: string;
  /** null: nothing is measured on the way. */
  validation: string | null;
}

/**
 * The files that `preference.data` and `preference.validationData` name; in the folder of a synthesis, its output files.
 * @throws {ConfigError} RECIPE_BAD_VALUE when no data is named.
 * @throws {DataError} FILE_MISSING when it is not there, or a folder holds no pairs.
 */
export async function findPairFiles({
  record,
  settings,
}: {
  record: RunRecord;
  settings: Settings;
}): Promise<PairFiles> {
  const { data, validationData } = settings.preference ?? ({} as Partial<PreferenceSettings>);
  if (data === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${record.path}: has no "preference.data"; name the folder of a synthesis that makes pairs, or a file of pairs (--data).`,
    );
  }
  const isFolder = await stat(data).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const train = isFolder ? join(data, SAMPLE_FILES.pairs) : data;
  if (!existsSync(train)) {
    throw new DataError(
      "FILE_MISSING",
      `preference.data is ${data}: ${isFolder ? `has no ${SAMPLE_FILES.pairs}; a synthesis writes one when a step of it makes pairs` : "does not exist"}.`,
    );
  }
  if (validationData !== undefined) return { train, validation: validationData };
  const own = isFolder ? join(data, SAMPLE_FILES.pairsValidation) : train;
  return { train, validation: isFolder && existsSync(own) ? own : null };
}

/** The student, and how it reads the data. */
export interface PairReader {
  engine: Pick<PolicyEngine, "capabilities">;
  student: Student;
  hints: PreferenceSettings["hints"];
}

/**
 * Reads a file of pairs and makes token sequences of them; those that cannot be trained on are left out and counted.
 * @throws {DataError} PAIRS_UNUSABLE when none is left; as `readPairs`, `pairRows` and `sequencesOf`.
 */
export async function loadPairs(
  file: string,
  { engine, student, hints }: PairReader,
): Promise<LoadedPairs> {
  const pairs: PairRows[] = [];
  const skipped: LoadedPairs["skipped"] = {};
  const { maxPositions } = engine.capabilities;
  const readDrawn = drawnReader();
  const rowsOf = (side: Candidate, where: string): Promise<TokenRow[]> =>
    readDrawn(side, (drawnWith) =>
      sequencesOf(side.trajectory, student, { hints, drawnWith, where }),
    );
  for await (const { row, where } of readPairs(file)) {
    const [chosen, rejected] = [await rowsOf(row.chosen, where), await rowsOf(row.rejected, where)];
    const made = pairRows(row, { rows: { chosen, rejected }, maxPositions, where });
    if (typeof made === "string") skipped[made] = (skipped[made] ?? 0) + 1;
    else pairs.push(made);
  }
  if (pairs.length === 0) {
    const { "nothing-compared": empty = 0, "too-long": long = 0 } = skipped;
    throw new DataError(
      "PAIRS_UNUSABLE",
      `${file}: has no pair to train on: ${empty} compare nothing that the policy wrote, ${long} are longer than the model's ${maxPositions} positions. Draw more, or take a model with more positions.`,
    );
  }
  return { file, sha256: await sha256File(file), pairs, skipped };
}
