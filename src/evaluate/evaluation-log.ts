import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { writeAtomic, writeJson } from "../base/files.ts";
import { openJsonl, readJsonl } from "../base/jsonl.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { EvaluationRow } from "./evaluation-row.ts";
import { shortHash } from "./fingerprint.ts";

/** Rows and trajectories of an evaluation on disk, appended as they come, so that an interrupted one can go on. */
export interface EvaluationLog {
  /** Rows taken over from an interrupted evaluation. */
  readonly kept: number;
  /** A row taken over; undefined when it is missing, or ended in an error and is tried again. */
  known(task: Task, sample: number): EvaluationRow | undefined;
  append(row: EvaluationRow, trajectory: Trajectory): Promise<void>;
  /** Puts what a resumed evaluation appended into the order of a straight one, and writes `results.json`. */
  finish(rows: readonly EvaluationRow[], results: unknown): Promise<void>;
  close(): Promise<void>;
}

/** A line of `rows.jsonl`. */
interface LoggedRow extends EvaluationRow {
  /** The evaluation's identity and the question's content: equal keys, equal result. */
  key: string;
}

const ROWS_FILE = "rows.jsonl";
const TRAJECTORIES_FILE = "trajectories.jsonl";
const RESULTS_FILE = "results.json";

/**
 * Opens `rows.jsonl` and `trajectories.jsonl` in a folder.
 *
 * @param options.identity hash of all that a row depends on beside its question: protocol, policy, seed.
 * @param options.resume goes on with the rows that are there.
 * @throws {ConfigError} EVALUATION_EXISTS when there are rows and `resume` is not set, or rows of another identity.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function openEvaluationLog(
  folder: string,
  { identity, resume }: { identity: string; resume: boolean },
): Promise<EvaluationLog> {
  const paths = { rows: join(folder, ROWS_FILE), trajectories: join(folder, TRAJECTORIES_FILE) };
  const resumed = existsSync(paths.rows);
  if (resumed && !resume) {
    throw new ConfigError(
      "EVALUATION_EXISTS",
      `${paths.rows}: is already there. Go on with it by --resume, or choose another --out.`,
    );
  }
  const kept = resumed ? await readRows(paths.rows, identity) : new Map<string, LoggedRow>();
  const trajectories = resumed ? await readById<Trajectory>(paths.trajectories) : new Map();
  // Written anew, so that what is appended does not follow a half-written line.
  await writeLines(paths.rows, kept.values());
  await writeLines(paths.trajectories, trajectories.values());
  const rowLog = await openJsonl(paths.rows);
  const trajectoryLog = await openJsonl(paths.trajectories);
  const close = async (): Promise<void> => {
    await rowLog.close();
    await trajectoryLog.close();
  };
  const keyOf = (asked: Pick<Task, "id" | "question" | "references">, sample: number): string =>
    `${identity}-${shortHash([asked.id, asked.question, asked.references, sample])}`;
  return {
    kept: [...kept.values()].filter(({ error }) => error === undefined).length,
    known(task, sample) {
      const logged = kept.get(keyOf(task, sample));
      if (logged === undefined || logged.error !== undefined) return undefined;
      const { key: _, ...row } = logged;
      return row;
    },
    async append(row, trajectory) {
      // The row last: it is what counts as done.
      await trajectoryLog.append(trajectory);
      await rowLog.append({ key: keyOf(row, row.sample), ...row });
    },
    async finish(rows, results) {
      if (resumed) {
        const written = await readRows(paths.rows, identity);
        const keys = rows.map((row) => keyOf(row, row.sample));
        const ids = rows.map(({ id, sample }) => `${id}/${sample}`);
        await writeLines(paths.rows, pick(written, keys));
        await writeLines(paths.trajectories, pick(await readById(paths.trajectories), ids));
      }
      await writeJson(join(folder, RESULTS_FILE), results);
    },
    close,
  };
}

async function readRows(path: string, identity: string): Promise<Map<string, LoggedRow>> {
  const rows = new Map<string, LoggedRow>();
  for await (const { value, line } of readJsonl(path, { tolerateCutEnd: true })) {
    const row = value as LoggedRow;
    if (!row.key.startsWith(`${identity}-`)) {
      throw new ConfigError(
        "EVALUATION_EXISTS",
        `${path}:${line}: was measured with another policy, protocol or seed, which must not be mixed. Choose another --out.`,
      );
    }
    rows.set(row.key, row);
  }
  return rows;
}

async function readById<T extends { id: string }>(path: string): Promise<Map<string, T>> {
  const found = new Map<string, T>();
  if (!existsSync(path)) return found;
  for await (const { value } of readJsonl(path, { tolerateCutEnd: true })) {
    found.set((value as T).id, value as T);
  }
  return found;
}

function pick<T>(from: ReadonlyMap<string, T>, keys: readonly string[]): T[] {
  return keys.flatMap((key) => from.get(key) ?? []);
}

async function writeLines(path: string, values: Iterable<unknown>): Promise<void> {
  await writeAtomic(path, async (write) => {
    for (const value of values) await write(`${JSON.stringify(value)}\n`);
  });
}
