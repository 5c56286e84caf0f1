import { basename } from "node:path";
import { DataError } from "../base/errors.ts";
import type { Task } from "../trajectory/task.ts";
import type { Fields } from "./fields.ts";
import { type QuestionFile, questionFile } from "./file-layout.ts";
import { readRecords } from "./records.ts";

export interface LoadTasksOptions {
  /** Maximum number, from the start of the file; default all. Later records are not read. */
  limit?: number;
  /** Name of the dataset for records without one; default: the file's name. */
  source?: string;
  /** Prefix of generated ids; default: the source. */
  idPrefix?: string;
  /** The user's names for the file's fields. */
  fields?: Fields | undefined;
  /** Default: a record without an accepted answer is an error. */
  unanswered?: "skipped";
}

/** A question and its place in the file. */
export interface PlacedTask {
  task: Task;
  /** `file:line`, or `file: record n`. */
  where: string;
}

/**
 * The questions of a file in any known layout: our own, or that of a dataset or trainer (`agentrl data list` names them), also
 * `.gz`. The first record determines the layout. In a file of no known layout, `fields` or the names of its fields say what is what.
 *
 * A task without an id gets `<file name>-<number>`, a task without a source the file's name.
 *
 * @throws {DataError} DATA_LAYOUT_UNKNOWN, DATA_FIELD_UNKNOWN, DATA_FIELDS_UNCLEAR, DATA_BAD_RECORD and JSONL_BAD_LINE with
 *   file:line, DATA_ID_TWICE, DATA_EMPTY, FILE_MISSING.
 */
export async function loadTasks(path: string, options: LoadTasksOptions = {}): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of streamTasks(path, options)) tasks.push(task);
  return tasks;
}

/**
 * `loadTasks` as a stream, for files larger than memory: only the ids, which must differ, stay in memory.
 * @throws as `loadTasks`.
 */
export async function* streamTasks(
  path: string,
  { limit = Infinity, ...names }: LoadTasksOptions = {},
): AsyncGenerator<Task> {
  if (limit <= 0) return;
  yield* distinctTasks(readTasks(path, names), path, limit);
}

/**
 * The tasks of a stream; throws when an id repeats.
 * @param path for messages.
 * @throws {DataError} DATA_ID_TWICE, DATA_EMPTY
 */
export async function* distinctTasks(
  placed: AsyncIterable<PlacedTask>,
  path: string,
  limit = Infinity,
): AsyncGenerator<Task> {
  const places = new Map<string, string>();
  for await (const { task, where } of placed) {
    const before = places.get(task.id);
    if (before !== undefined)
      throw new DataError(
        "DATA_ID_TWICE",
        `${where}: the id "${task.id}" is the same as in ${before}; ids must be unique within a file. Rename one.`,
      );
    places.set(task.id, where);
    yield task;
    if (places.size >= limit) return;
  }
  if (places.size === 0)
    throw new DataError("DATA_EMPTY", `${path}: contains no records; at least one is required.`);
}

/**
 * `streamTasks` with places; does not compare ids.
 * @param options.wanted skips records with an id for which it returns false.
 */
export async function* readTasks(
  path: string,
  options: Omit<LoadTasksOptions, "limit"> & { wanted?: (id: string) => boolean } = {},
): AsyncGenerator<PlacedTask> {
  let file: QuestionFile | undefined;
  const { source = sourceName(path), wanted = () => true } = options;
  const { idPrefix = source } = options;
  for await (const placed of readRecords(path)) {
    file ??= questionFile(placed, options.fields);
    const { record, where } = placed;
    const { id, _id = id } = record;
    if (typeof _id === "string" && !wanted(_id)) continue;
    const found =
      options.unanswered === "skipped"
        ? file.readAnswered(record, where)
        : file.read(record, where);
    if (found === null) continue;
    yield {
      task: {
        id: found.id ?? `${idPrefix}-${placed.number}`,
        question: found.question,
        references: found.references,
        source: found.source ?? source,
        annotations: found.annotations,
      },
      where,
    };
  }
}

const NOTICED_QUESTIONS = 10_000;

/**
 * Questions to the user about accepted answers that may be read wrongly, from the first questions of a file. An error ends the look: the
 * reader of the questions reports it.
 */
export async function answerNotices(path: string, fields: Fields = {}): Promise<string[]> {
  let file: QuestionFile | undefined;
  let read = 0;
  try {
    for await (const placed of readRecords(path)) {
      file ??= questionFile(placed, fields);
      file.read(placed.record, placed.where);
      if ((read += 1) === NOTICED_QUESTIONS) break;
    }
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
  }
  return file?.doubts.notices() ?? [];
}

/** File name without extensions: "dev-500" of "a/dev-500.jsonl.gz". */
export function sourceName(path: string): string {
  return basename(path).replace(/(\.jsonl?|\.[ct]sv|\.parquet|\.gz)+$/, "");
}
