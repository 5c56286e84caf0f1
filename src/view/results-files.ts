import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { distinctNames } from "../base/distinct-names.ts";
import { ConfigError, DataError } from "../base/errors.ts";
import { readJson } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { checkOptions, type z } from "../base/schema.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { type Results, resultsSchema } from "./results-schema.ts";

/** A line of `rows.jsonl` for reports: the fields of every version, and any others. */
export interface ReportRow {
  id: string;
  sample: number;
  question: string;
  references: string[];
  answer: string | null;
  end: string;
  hops?: number;
  type?: string;
  error?: { boundary: string; code: string; message: string };
  /** Metrics and everything else. */
  [key: string]: unknown;
}

/** The files of one evaluation, opened. Every call streams rows and trajectories again. */
export interface ResultFiles {
  /** Short unique name for headings. */
  name: string;
  folder: string;
  results: Results;
  /** Whether there is a `rows.jsonl`. */
  hasRows: boolean;
  rows(): AsyncGenerator<ReportRow>;
  trajectories(): AsyncGenerator<Trajectory>;
}

/**
 * Opens the output of evaluations.
 *
 * @param places folders of `agentrl eval --out`, or their `results.json`; at least one.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON; RESULTS_BAD when a file does not hold an evaluation's results.
 * @throws {ConfigError} RESULTS_TWICE when one is given twice.
 */
export async function openResults(places: readonly string[]): Promise<ResultFiles[]> {
  const files = places.map((place) => fileIn(place, "results.json"));
  const twice = files.find((file, i) => files.indexOf(file) < i);
  if (twice !== undefined)
    throw new ConfigError("RESULTS_TWICE", `${twice}: is given twice. Give each result once.`);
  const names = distinctNames(files.map(dirname));
  return Promise.all(files.map((file, i) => openOne(file, names[i] ?? "")));
}

async function openOne(file: string, name: string): Promise<ResultFiles> {
  const folder = dirname(file);
  const expected = "the results.json of `agentrl eval --out FOLDER`";
  const at = { rows: join(folder, "rows.jsonl"), trajectories: join(folder, "trajectories.jsonl") };
  return {
    name,
    folder,
    results: await readChecked(file, resultsSchema, expected),
    hasRows: existsSync(at.rows),
    rows: () => lines<ReportRow>(at.rows),
    trajectories: () => lines<Trajectory>(at.trajectories),
  };
}

/** The checked value of a JSON file. @param expected what the file should be. */
export async function readChecked<S extends z.ZodType>(
  file: string,
  schema: S,
  expected: string,
): Promise<z.output<S>> {
  const parsed = checkOptions(schema, await readJson(file));
  if (parsed.problem === null) return parsed.value;
  const { path, message } = parsed.problem;
  const place = path.length === 0 ? "the file" : path.join(".");
  throw new DataError("RESULTS_BAD", `${file}: ${place} ${message} Expected ${expected}.`);
}

/** A file, or the one of a name in a folder. */
export function fileIn(place: string, name: string): string {
  const path = resolve(place);
  return existsSync(path) && statSync(path).isDirectory() ? join(path, name) : path;
}

/** A missing file has no lines: results.json alone can be shown, too. */
export async function* lines<T>(path: string): AsyncGenerator<T> {
  if (!existsSync(path)) return;
  for await (const { value } of readJsonl(path, { tolerateCutEnd: true })) yield value as T;
}

/** A scored draw with its trajectory. */
export interface ScoredTrajectory {
  row: ReportRow;
  /** null if no trajectory was kept. */
  trajectory: Trajectory | null;
}

/**
 * Rows with their trajectories, streamed: both files are in nearly the same order, so few are held. In the order in which pairs become
 * complete; rows without a trajectory last.
 */
export async function* scoredTrajectories(files: ResultFiles): AsyncGenerator<ScoredTrajectory> {
  const rows = files.rows();
  const waiting = {
    rows: new Map<string, ReportRow>(),
    trajectories: new Map<string, Trajectory>(),
  };
  for await (const trajectory of files.trajectories()) {
    waiting.trajectories.set(trajectory.id, trajectory);
    const { value: row } = (await rows.next()) as { value?: ReportRow };
    if (row !== undefined) waiting.rows.set(rowId(row), row);
    for (const id of row === undefined ? [trajectory.id] : [trajectory.id, rowId(row)]) {
      const [own, scored] = [waiting.trajectories.get(id), waiting.rows.get(id)];
      if (own === undefined || scored === undefined) continue;
      waiting.trajectories.delete(id);
      waiting.rows.delete(id);
      yield { row: scored, trajectory: own };
    }
  }
  for await (const row of rows) {
    const trajectory = waiting.trajectories.get(rowId(row)) ?? null;
    yield { row, trajectory };
  }
  for (const row of waiting.rows.values()) yield { row, trajectory: null };
}

/** The id that a row's trajectory has. */
export function rowId({ id, sample }: Pick<ReportRow, "id" | "sample">): string {
  return `${id}/${sample}`;
}
