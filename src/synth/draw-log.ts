import { existsSync, statSync } from "node:fs";
import { ConfigError, DataError } from "../base/errors.ts";
import { filterLines, openJsonl, orderLines } from "../base/jsonl.ts";
import { z } from "../base/schema.ts";
import { type PlacedRow, candidateShape, readRows, taskShape } from "../trajectory/sample-files.ts";
import type { Candidate } from "../trajectory/sample.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";

/** The log's name in the folder of a run. */
export const DRAWS_FILE = "draws.jsonl";

/** All draws of one question. */
export interface DrawnQuestion {
  /** With annotations, without its own passages. */
  task: Task;
  candidates: Candidate[];
  /** Failures beside rollouts, which record their own: of an annotation (by the question's id) or of a score (by the candidate's). */
  failed?: { of: string; code: string; message: string }[];
}

interface LoggedDraws extends DrawnQuestion {
  settings: string;
}

/** The draws of a synthesis on disk, appended as they come, so that an interrupted run can be resumed. */
export interface DrawLog {
  readonly kept: number;
  /** Earlier draws of a question; null when they are complete. Call it for every question, in the order of the finished file. */
  earlier(task: Task): DrawnQuestion | null | undefined;
  append(drawn: DrawnQuestion): Promise<void>;
  /** Sorts a resumed run's lines. @throws {ConfigError} SYNTHESIS_EXISTS when the file has draws of other questions. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

const drawsShape = z.looseObject({
  settings: z.string(),
  task: taskShape,
  candidates: z.array(candidateShape),
  failed: z.array(z.looseObject({ of: z.string() })).optional(),
});

/** Whether a rollout ended without an error; a rollout that a server or tool stopped may be repeated. */
export function isFinal({ error }: Trajectory): boolean {
  return error === undefined || error.code === GAVE_UP;
}

/** Error code of a teacher that cannot answer a question; a retry would fail again. */
export const GAVE_UP = "TEACHER_GAVE_UP";

function isWhole({ candidates, failed }: DrawnQuestion): boolean {
  return failed === undefined && candidates.every(({ trajectory }) => isFinal(trajectory));
}

/** The lines of a finished `draws.jsonl`, streamed. @throws {DataError} as `readSamples`; DATA_ID_TWICE after an interrupted run. */
export async function* readDraws(path: string): AsyncGenerator<DrawnQuestion> {
  const seen = new Set<string>();
  for await (const { row, where } of readLog(path)) {
    if (seen.has(row.task.id)) {
      const message = `${where}: the draws of question "${row.task.id}" are in the file twice, because the run was interrupted. Finish it with agentrl synth-data --resume.`;
      throw new DataError("DATA_ID_TWICE", message);
    }
    seen.add(row.task.id);
    const { settings: _, ...drawn } = row;
    yield drawn;
  }
}

/**
 * Opens the log of a run. @param options.settings hash of all that a draw depends on; `resume` continues with the file's draws.
 * @throws {ConfigError} SYNTHESIS_EXISTS for draws without `resume`, or under other settings. @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function openDrawLog(
  path: string,
  { settings, resume }: { settings: string; resume: boolean },
): Promise<DrawLog> {
  // A run that ended before its first question leaves an empty file.
  const resumed = existsSync(path) && statSync(path).size > 0;
  if (resumed && !resume) {
    const message = `${path}: exists already. Continue it with --resume, or choose another --out.`;
    throw new ConfigError("SYNTHESIS_EXISTS", message);
  }
  const there = resumed ? await readEarlier(path, settings) : new Map<string, never>();
  // Remove a half-written last line before the first append.
  if (resumed) await filterLines(path, () => true);
  const log = await openJsonl(path);
  const order: string[] = [];
  return {
    kept: [...there.values()].filter((drawn) => drawn === null).length,
    earlier({ id }) {
      if (resumed) order.push(id);
      return there.get(id);
    },
    append: (drawn) => log.append({ settings, ...drawn } satisfies LoggedDraws),
    async finish() {
      if (!resumed) return;
      const asked = new Set(order);
      const others = [...there.keys()].filter((id) => !asked.has(id)).length;
      if (others > 0) {
        const message = `${path}: has draws of ${others} questions that this run does not include, and no draw is deleted. Resume with the earlier limit or a larger one, or choose another --out.`;
        throw new ConfigError("SYNTHESIS_EXISTS", message);
      }
      // The last line of a repeated question counts.
      await orderLines(path, (value) => (value as LoggedDraws).task.id, order);
    },
    close: () => log.close(),
  };
}

async function readEarlier(
  path: string,
  settings: string,
): Promise<Map<string, DrawnQuestion | null>> {
  const there = new Map<string, DrawnQuestion | null>();
  for await (const { row, where } of readLog(path)) {
    const { settings: own, ...drawn } = row;
    if (own !== settings) {
      const message = `${where}: was drawn with another teacher, dataset, retriever or other settings, and draws must not be mixed (settings ${own}, now ${settings}). Choose another --out.`;
      throw new ConfigError("SYNTHESIS_EXISTS", message);
    }
    there.set(drawn.task.id, isWhole(drawn) ? null : drawn);
  }
  return there;
}

function readLog(path: string): AsyncGenerator<PlacedRow<LoggedDraws>> {
  return readRows(path, drawsShape, "a question's draws", { tolerateCutEnd: true });
}
