import { existsSync, statSync } from "node:fs";
import { ConfigError, DataError } from "../base/errors.ts";
import { openJsonl } from "../base/jsonl.ts";
import { filterLines, orderLines } from "../base/logged-lines.ts";
import { z } from "../base/schema.ts";
import { candidateShape, type PlacedRow, readRows, taskShape } from "../trajectory/sample-files.ts";
import type { Candidate } from "../trajectory/sample.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";

/** The log's name in the folder of a run. */
export const DRAWS_FILE = "draws.jsonl";

/** All draws of one question. */
export interface DrawnQuestion {
  /** With what was added to it, without its own passages. */
  task: Task;
  candidates: Candidate[];
  /** What failed beside rollouts, which say it themselves: adding to the question (by its id), or scoring (by the candidate's). */
  failed?: { of: string; code: string; message: string }[];
}

/** A line of `draws.jsonl`. */
interface LoggedDraws extends DrawnQuestion {
  /** Hash of all that a draw depends on beside its question. */
  settings: string;
}

/** The draws of a synthesis on disk, appended as they come, so that an interrupted one can go on. */
export interface DrawLog {
  /** Questions taken over whole. */
  readonly kept: number;
  /**
   * What was drawn of a question earlier: null when all of it, else what there is. To be asked of every question, in the order that
   * the file is to have.
   */
  earlier(task: Task): DrawnQuestion | null | undefined;
  append(drawn: DrawnQuestion): Promise<void>;
  /**
   * Puts what a resumed run appended into the order of a straight one.
   * @throws {ConfigError} SYNTHESIS_EXISTS when draws of questions are there that were not asked for: nothing is thrown away.
   */
  finish(): Promise<void>;
  close(): Promise<void>;
}

const drawsShape = z.looseObject({
  settings: z.string(),
  task: taskShape,
  candidates: z.array(candidateShape),
  failed: z.array(z.looseObject({ of: z.string() })).optional(),
});

/** Whether a rollout came to its end: what a server or a tool cut off may be tried again. */
export function isFinal({ error }: Trajectory): boolean {
  return error === undefined || error.code === GAVE_UP;
}

/** How a teacher says that a question is beyond it: it would be so again. */
export const GAVE_UP = "TEACHER_GAVE_UP";

/** Whether nothing of a question's draws is to be tried again. */
function isWhole({ candidates, failed }: DrawnQuestion): boolean {
  return failed === undefined && candidates.every(({ trajectory }) => isFinal(trajectory));
}

/**
 * The lines of a finished `draws.jsonl`, streamed.
 * @throws {DataError} as `readSamples`; DATA_ID_TWICE where a question stands twice: its run was interrupted.
 */
export async function* readDraws(path: string): AsyncGenerator<DrawnQuestion> {
  const seen = new Set<string>();
  for await (const { row, where } of readLog(path)) {
    if (seen.has(row.task.id)) {
      throw new DataError(
        "DATA_ID_TWICE",
        `${where}: the draws of question "${row.task.id}" stand there twice, as a run leaves them that was interrupted. Finish it by agentrl synth-data --resume.`,
      );
    }
    seen.add(row.task.id);
    const { settings: _, ...drawn } = row;
    yield drawn;
  }
}

/**
 * Opens the log of a run.
 *
 * @param options.settings hash of all that a draw depends on beside its question.
 * @param options.resume goes on with the draws that are there.
 * @throws {ConfigError} SYNTHESIS_EXISTS when there are draws and `resume` is not set, or draws under other settings.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function openDrawLog(
  path: string,
  { settings, resume }: { settings: string; resume: boolean },
): Promise<DrawLog> {
  // An empty one is what a run leaves that ended before its first question.
  const resumed = existsSync(path) && statSync(path).size > 0;
  if (resumed && !resume) {
    throw new ConfigError(
      "SYNTHESIS_EXISTS",
      `${path}: is already there. Go on with it by --resume, or choose another --out.`,
    );
  }
  const there = resumed ? await readEarlier(path, settings) : new Map<string, never>();
  // What is appended must not follow a half-written line.
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
        throw new ConfigError(
          "SYNTHESIS_EXISTS",
          `${path}: holds draws of ${others} questions that were not asked for now; what was drawn is not thrown away. Resume with the limit of before or a larger one, or choose another --out.`,
        );
      }
      // Of a question that was tried again the last line counts.
      await orderLines(path, (value) => (value as LoggedDraws).task.id, order);
    },
    close: () => log.close(),
  };
}

/** Earlier draws by question: null where they are whole, which need not be kept in memory. */
async function readEarlier(
  path: string,
  settings: string,
): Promise<Map<string, DrawnQuestion | null>> {
  const there = new Map<string, DrawnQuestion | null>();
  for await (const { row, where } of readLog(path)) {
    const { settings: own, ...drawn } = row;
    if (own !== settings) {
      throw new ConfigError(
        "SYNTHESIS_EXISTS",
        `${where}: was drawn with another teacher, dataset, retriever or other settings, which must not be mixed (${own}, now ${settings}). Choose another --out.`,
      );
    }
    there.set(drawn.task.id, isWhole(drawn) ? null : drawn);
  }
  return there;
}

function readLog(path: string): AsyncGenerator<PlacedRow<LoggedDraws>> {
  return readRows(path, drawsShape, "a question's draws", { tolerateCutEnd: true });
}
