import { basename } from "node:path";
import { DataError } from "../base/errors.ts";
import type { Task } from "../trajectory/task.ts";
import { taskLayouts } from "./layouts/index.ts";
import type { TaskLayout, JsonRecord } from "./layouts/layout.ts";
import { type PlacedRecord, readRecords } from "./records.ts";

export interface LoadTasksOptions {
  /** At most so many, from the start of the file; all by default. Nothing beyond them is looked at. */
  limit?: number;
  /** Name of the dataset for records that tell none; the file's name by default. */
  source?: string;
  /** Begins the ids of records without one; the source by default. */
  idPrefix?: string;
}

/** A question and where it stands. */
export interface PlacedTask {
  task: Task;
  /** `file:line`, or `file: record n`. */
  where: string;
  layout: TaskLayout;
}

/**
 * The questions of a file in any known layout, which its first record tells: our own, or that of a dataset or trainer
 * (`agentrl data list` names them), `.gz` too.
 *
 * A task without an id gets `<file name>-<number>`, one without a source the file's name.
 *
 * @throws {DataError} DATA_LAYOUT_UNKNOWN, DATA_BAD_RECORD and JSONL_BAD_LINE with file:line, DATA_ID_TWICE,
 *   DATA_EMPTY, FILE_MISSING.
 */
export async function loadTasks(path: string, options: LoadTasksOptions = {}): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of streamTasks(path, options)) tasks.push(task);
  return tasks;
}

/**
 * As `loadTasks`, one by one, for files that need not fit into memory: it grows with the ids alone, which are compared.
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
 * The tasks of a stream as far as their ids differ.
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
    if (before !== undefined) {
      throw new DataError(
        "DATA_ID_TWICE",
        `${where}: the id "${task.id}" is also that of ${before}; ids must differ within a file. Rename one.`,
      );
    }
    places.set(task.id, where);
    yield task;
    if (places.size >= limit) return;
  }
  if (places.size === 0) {
    throw new DataError("DATA_EMPTY", `${path}: holds no record; at least one is needed.`);
  }
}

/**
 * As `streamTasks`, with places; ids are not compared.
 * @param options.wanted of records with an id of their own: those that it refuses are not looked at.
 */
export async function* readTasks(
  path: string,
  options: Omit<LoadTasksOptions, "limit"> & { wanted?: (id: string) => boolean } = {},
): AsyncGenerator<PlacedTask> {
  let layout: TaskLayout | undefined;
  const { source = sourceName(path), wanted = () => true } = options;
  const { idPrefix = source } = options;
  for await (const placed of readRecords(path)) {
    layout ??= taskLayoutOf(placed.record) ?? unknownLayout(placed);
    const { id, _id = id } = placed.record;
    if (typeof _id === "string" && !wanted(_id)) continue;
    yield { task: readTask(layout, placed, { source, idPrefix }), where: placed.where, layout };
  }
}

/** The layout whose files begin with such a record; undefined when there is none. */
export function taskLayoutOf(record: JsonRecord): TaskLayout | undefined {
  return taskLayouts.parts.find((layout) => layout.fits(record));
}

function readTask(
  layout: TaskLayout,
  placed: PlacedRecord,
  { source, idPrefix }: { source: string; idPrefix: string },
): Task {
  const read = layout.read(placed.record, placed.where);
  return {
    id: read.id ?? `${idPrefix}-${placed.number}`,
    question: read.question,
    references: read.references,
    source: read.source ?? source,
    annotations: read.annotations,
  };
}

/** File name without endings: "dev-500" of "a/dev-500.jsonl.gz". */
export function sourceName(path: string): string {
  return basename(path).replace(/(\.jsonl?|\.tsv|\.gz)+$/, "");
}

function unknownLayout({ record, where }: PlacedRecord): never {
  const known = taskLayouts.parts.map(({ name, summary }) => `${name} (${summary})`);
  throw new DataError(
    "DATA_LAYOUT_UNKNOWN",
    `${where}: a record with the keys ${Object.keys(record).join(", ")} is no question of a known layout. Known: ${known.join("; ")}.`,
  );
}
