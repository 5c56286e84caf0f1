import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { writeJson } from "../base/files.ts";
import { filterLines, openJsonl, orderLines, readJsonl } from "../base/jsonl.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { EvaluationRow } from "./evaluation-row.ts";
import { shortHash } from "./fingerprint.ts";

/** Rows and trajectories of an evaluation on disk, appended as they come, so that an interrupted one can be resumed. */
export interface EvaluationLog {
  readonly kept: number;
  /** A kept row; undefined if it is missing or ended in an error. Call it for every draw, in the order of the finished files. */
  known(task: Task, sample: number): EvaluationRow | undefined;
  append(row: EvaluationRow, trajectory: Trajectory): Promise<void>;
  /** Sorts a resumed evaluation's lines, and writes `results.json`. @throws {ConfigError} EVALUATION_EXISTS for rows of other draws. */
  finish(results: unknown): Promise<void>;
  close(): Promise<void>;
}

interface LoggedRow extends EvaluationRow {
  /** Hash of the evaluation's identity and the question's content: equal keys mean equal results. */
  key: string;
}

const ROWS_FILE = "rows.jsonl";
const TRAJECTORIES_FILE = "trajectories.jsonl";
const RESULTS_FILE = "results.json";

/** @throws {ConfigError} EVALUATION_EXISTS when a folder has rows of an evaluation. */
export function requireNoRows(folder: string): void {
  const path = join(folder, ROWS_FILE);
  if (!hasRows(path)) return;
  const message = `${path}: exists already. Continue it with --resume, or choose another --out.`;
  throw new ConfigError("EVALUATION_EXISTS", message);
}

function hasRows(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0;
}

/**
 * Opens `rows.jsonl` and `trajectories.jsonl` in a folder.
 * @param options.identity hash of everything a row depends on beside the question; `resume` continues with the file's rows.
 * @throws {ConfigError} EVALUATION_EXISTS for rows without `resume`, or of another identity. @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function openEvaluationLog(
  folder: string,
  { identity, resume }: { identity: string; resume: boolean },
): Promise<EvaluationLog> {
  const paths = { rows: join(folder, ROWS_FILE), trajectories: join(folder, TRAJECTORIES_FILE) };
  if (!resume) requireNoRows(folder);
  const resumed = hasRows(paths.rows);
  const kept = resumed ? await readRows(paths.rows, identity) : new Map<string, EvaluationRow>();
  const keptIds = new Set([...kept.values()].map(idOf));
  // Written again without a half-written line or failed rows, before the first append.
  await filterLines(paths.rows, (value) => kept.has((value as LoggedRow).key));
  await filterLines(paths.trajectories, (value) => keptIds.has((value as Trajectory).id));
  const rowLog = await openJsonl(paths.rows);
  const trajectoryLog = await openJsonl(paths.trajectories);
  const order: { keys: string[]; ids: string[] } = { keys: [], ids: [] };
  const keyOf = (asked: Pick<Task, "id" | "question" | "references">, sample: number): string =>
    `${identity}-${shortHash([asked.id, asked.question, asked.references, sample])}`;
  return {
    kept: kept.size,
    known(task, sample) {
      const key = keyOf(task, sample);
      if (resumed) {
        order.keys.push(key);
        order.ids.push(idOf({ id: task.id, sample }));
      }
      return kept.get(key);
    },
    async append(row, { timings: _, ...trajectory }) {
      // The row last, because a row means that the draw is done.
      await trajectoryLog.append(trajectory);
      await rowLog.append({ key: keyOf(row, row.sample), ...row });
    },
    async finish(results) {
      if (resumed) {
        const asked = new Set(order.keys);
        const others = [...kept.keys()].filter((key) => !asked.has(key)).length;
        if (others > 0) {
          const message = `${paths.rows}: has ${others} rows of questions or draws that this run does not include, and no row is deleted. Resume with the earlier --limit and --samples, or choose another --out.`;
          throw new ConfigError("EVALUATION_EXISTS", message);
        }
        await orderLines(paths.rows, (value) => (value as LoggedRow).key, order.keys);
        await orderLines(paths.trajectories, (value) => (value as Trajectory).id, order.ids);
      }
      await writeJson(join(folder, RESULTS_FILE), results);
    },
    close: async () => {
      await rowLog.close();
      await trajectoryLog.close();
    },
  };
}

function idOf({ id, sample }: Pick<EvaluationRow, "id" | "sample">): string {
  return `${id}/${sample}`;
}

async function readRows(path: string, identity: string): Promise<Map<string, EvaluationRow>> {
  const rows = new Map<string, EvaluationRow>();
  for await (const { value, line } of readJsonl(path, { tolerateCutEnd: true })) {
    const { key, ...row } = value as LoggedRow;
    if (!key.startsWith(`${identity}-`)) {
      const message = `${path}:${line}: was measured with another policy, protocol or seed, and rows must not be mixed. Choose another --out.`;
      throw new ConfigError("EVALUATION_EXISTS", message);
    }
    if (row.error === undefined) rows.set(key, row);
  }
  return rows;
}
