import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { writeJson } from "../base/files.ts";
import { openJsonl, readJsonl } from "../base/jsonl.ts";
import { filterLines, orderLines } from "../base/logged-lines.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { EvaluationRow } from "./evaluation-row.ts";
import { shortHash } from "./fingerprint.ts";

/** Rows and trajectories of an evaluation on disk, appended as they come, so that an interrupted one can go on. */
export interface EvaluationLog {
  /** Rows taken over from an interrupted evaluation. */
  readonly kept: number;
  /**
   * A row taken over; undefined when it is missing, or ended in an error and is tried again. To be asked of every draw, in the
   * order that the files are to have.
   */
  known(task: Task, sample: number): EvaluationRow | undefined;
  append(row: EvaluationRow, trajectory: Trajectory): Promise<void>;
  /**
   * Puts what a resumed evaluation appended into the order of a straight one, and writes `results.json`.
   * @throws {ConfigError} EVALUATION_EXISTS when rows are there that were never asked for: nothing is dropped.
   */
  finish(results: unknown): Promise<void>;
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
  // An empty one is what an evaluation leaves that ended before its first row.
  const resumed = existsSync(paths.rows) && statSync(paths.rows).size > 0;
  if (resumed && !resume) {
    throw new ConfigError(
      "EVALUATION_EXISTS",
      `${paths.rows}: is already there. Go on with it by --resume, or choose another --out.`,
    );
  }
  const kept = resumed ? await readRows(paths.rows, identity) : new Map<string, EvaluationRow>();
  const keptIds = new Set([...kept.values()].map(idOf));
  // Written anew, so that what is appended does not follow a half-written line or a failure.
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
      // The row last: it is what counts as done.
      await trajectoryLog.append(trajectory);
      await rowLog.append({ key: keyOf(row, row.sample), ...row });
    },
    async finish(results) {
      if (resumed) {
        const asked = new Set(order.keys);
        const others = [...kept.keys()].filter((key) => !asked.has(key)).length;
        if (others > 0) {
          throw new ConfigError(
            "EVALUATION_EXISTS",
            `${paths.rows}: holds ${others} rows of questions or draws that were not asked for now; what was measured is not thrown away. Resume with the --limit and --samples of before, or choose another --out.`,
          );
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

/** The id of a row's trajectory. */
function idOf({ id, sample }: Pick<EvaluationRow, "id" | "sample">): string {
  return `${id}/${sample}`;
}

/** The rows of a log that measured something, by their keys. */
async function readRows(path: string, identity: string): Promise<Map<string, EvaluationRow>> {
  const rows = new Map<string, EvaluationRow>();
  for await (const { value, line } of readJsonl(path, { tolerateCutEnd: true })) {
    const { key, ...row } = value as LoggedRow;
    if (!key.startsWith(`${identity}-`)) {
      throw new ConfigError(
        "EVALUATION_EXISTS",
        `${path}:${line}: was measured with another policy, protocol or seed, which must not be mixed. Choose another --out.`,
      );
    }
    if (row.error === undefined) rows.set(key, row);
  }
  return rows;
}
