import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ConfigError, DataError } from "../base/errors.ts";
import { readJson } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { checkOptions } from "../base/schema.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { type Results, resultsSchema } from "./results-schema.ts";

/** A line of `rows.jsonl` as reports read it: what every version writes, and whatever else it holds. */
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

/** The files of one evaluation, opened. Rows and trajectories are streamed anew at every call. */
export interface ResultFiles {
  /** Short name for headings, unlike those of the results beside it. */
  name: string;
  folder: string;
  results: Results;
  /** Whether there is a `rows.jsonl`. */
  hasRows: boolean;
  rows(): AsyncGenerator<ReportRow>;
  trajectories(): AsyncGenerator<Trajectory>;
}

/**
 * Opens what evaluations wrote.
 *
 * @param places folders of `agentrl eval --out`, or their `results.json`; at least one.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON; RESULTS_BAD when a file does not hold an evaluation's results.
 * @throws {ConfigError} RESULTS_TWICE when one is named twice.
 */
export async function openResults(places: readonly string[]): Promise<ResultFiles[]> {
  const files = places.map(resultsFile);
  const twice = files.find((file, i) => files.indexOf(file) < i);
  if (twice !== undefined) {
    throw new ConfigError("RESULTS_TWICE", `${twice}: is named twice. Name each result once.`);
  }
  const names = distinctNames(files.map(dirname));
  return Promise.all(files.map((file, i) => openOne(file, names[i] ?? "")));
}

async function openOne(file: string, name: string): Promise<ResultFiles> {
  const folder = dirname(file);
  const parsed = checkOptions(resultsSchema, await readJson(file));
  if (parsed.problem !== null) {
    const { path, message } = parsed.problem;
    throw new DataError(
      "RESULTS_BAD",
      `${file}: ${path.length === 0 ? "the file" : path.join(".")} ${message} This is read: the results.json of \`agentrl eval --out FOLDER\`.`,
    );
  }
  const at = { rows: join(folder, "rows.jsonl"), trajectories: join(folder, "trajectories.jsonl") };
  return {
    ...{ name, folder, results: parsed.value },
    hasRows: existsSync(at.rows),
    rows: () => lines<ReportRow>(at.rows),
    trajectories: () => lines<Trajectory>(at.trajectories),
  };
}

function resultsFile(place: string): string {
  const path = resolve(place);
  return existsSync(path) && statSync(path).isDirectory() ? join(path, "results.json") : path;
}

/** A log that is not there has no lines: results.json alone can be shown too. */
async function* lines<T>(path: string): AsyncGenerator<T> {
  if (!existsSync(path)) return;
  for await (const { value } of readJsonl(path, { tolerateCutEnd: true })) yield value as T;
}

/** The last parts of paths, as many as it takes to tell them apart. */
function distinctNames(folders: readonly string[]): string[] {
  const parts = folders.map((folder) => folder.split(/[\\/]/).filter((part) => part !== ""));
  for (let depth = 1; depth <= Math.max(...parts.map(({ length }) => length)); depth++) {
    const names = parts.map((own) => own.slice(-depth).join("/"));
    if (new Set(names).size === names.length) return names;
  }
  return folders.map((folder) => basename(folder));
}

/** A question's draw as it was scored, beside how it came about. */
export interface ScoredTrajectory {
  row: ReportRow;
  /** null where no trajectory was kept. */
  trajectory: Trajectory | null;
}

/**
 * Rows with their trajectories, streamed: both files are in nearly the same order, so only what runs ahead is held.
 * In the order in which pairs become complete; rows without a trajectory last.
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
