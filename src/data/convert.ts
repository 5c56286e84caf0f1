import { ConfigError, DataError } from "../base/errors.ts";
import type { Part, Registry } from "../base/registry.ts";
import { suggest } from "../base/nearest.ts";
import type { Task } from "../trajectory/task.ts";
import { isBeirFolder, readBeirTasks } from "./beir-folder.ts";
import type { Fields } from "./fields.ts";
import { openDataFile } from "./file-layout.ts";
import { corpusLayouts, taskLayouts } from "./layouts/index.ts";
import type { TaskWriter } from "./layouts/layout.ts";
import { readPassages } from "./passages.ts";
import { type PlacedTask, readTasks } from "./tasks.ts";
import { type WrittenFile, writeJsonl } from "./write-jsonl.ts";

export interface Conversion extends WrittenFile {
  kind: "questions" | "corpus";
  /** Number of questions per annotation that the layout cannot store. */
  lost: Record<string, number>;
}

export interface ConvertOptions {
  /** Name of the split, for layouts that store it and for BEIR's judgements; default "train", for a BEIR folder "test". */
  split?: string;
  /** The policy's prompt, with `{question}` as placeholder; default: the question only. */
  prompt?: string;
  /** The user's names for the fields of `from`. */
  fields?: Fields | undefined;
  signal?: AbortSignal;
}

/** Layouts with a writer for questions. */
export function writableLayouts(): string[] {
  return taskLayouts.parts.filter(({ write }) => write !== undefined).map(({ name }) => name);
}

/** @throws {ConfigError} USAGE for a layout that nothing is written in, before any file is read. */
export function requireLayout(to: string): void {
  const written = [...taskLayouts.parts, ...corpusLayouts.parts].filter(({ write }) => write);
  const names = [...new Set(written.map(({ name }) => name))];
  if (names.includes(to)) return;
  throw new ConfigError(
    "USAGE",
    `--to is "${to}"; no such layout is written. ${suggest(to, names)}`,
  );
}

/**
 * Converts a question file, a BEIR folder or a corpus to another layout, streamed. Writes `out` atomically: as Parquet if its name
 * ends in `.parquet`, else as JSON lines, compressed if it ends in `.gz`.
 *
 * @param to a layout with a writer; only "agentrl" is lossless.
 * @throws {ConfigError} PART_UNKNOWN when no such layout can store the content of `from`; RECIPE_BAD_VALUE for a prompt without
 *   `{question}`; USAGE when the name of `out` says another format.
 * @throws {DataError} as `loadTasks` and `readPassages`, but ids are not compared.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function convertFile(
  from: string,
  out: string,
  to: string,
  options: ConvertOptions = {},
): Promise<Conversion> {
  const isFolder = isBeirFolder(from);
  if (!isFolder && (await openDataFile(from, options.fields))?.kind === "corpus") {
    const write = writerOf(corpusLayouts, to, `${from} is a corpus`);
    const rows = (): AsyncIterable<object> => mapped(readPassages(from, options.fields), write);
    return { kind: "corpus", ...(await writeRecords(out, rows, options.signal)), lost: {} };
  }
  const write = writerOf(taskLayouts, to, `${from} contains questions`);
  const split = options.split ?? (isFolder ? "test" : "train");
  const prompt = promptOf(options.prompt);
  let lost: Conversion["lost"] = {};
  const rows = (): AsyncIterable<object> => {
    const { fields } = options;
    const tasks = isFolder ? readBeirTasks(from, split) : readTasks(from, { fields });
    lost = {};
    return written(tasks, write, { from, split, prompt, lost });
  };
  const file = await writeRecords(out, rows, options.signal);
  return { kind: "questions", ...file, lost };
}

async function writeRecords(
  out: string,
  rows: () => AsyncIterable<object>,
  signal: AbortSignal | undefined,
): Promise<WrittenFile> {
  if (out.endsWith(".parquet")) {
    // Loaded only here: every command loads this file.
    const { writeParquet } = await import("./write-parquet.ts");
    return writeParquet(out, rows, signal);
  }
  const [ending] = /\.(json|csv|tsv|arrow|parquet\.gz)$/.exec(out) ?? [];
  if (ending === undefined) return writeJsonl(out, rows(), signal);
  throw new ConfigError(
    "USAGE",
    `${out}: ${ending} is not written. Choose a name that ends in .parquet, .jsonl or .jsonl.gz.`,
  );
}

function writerOf<W>(
  layouts: Registry<Part & { readonly write?: W }>,
  to: string,
  found: string,
): W {
  const write = layouts.parts.find(({ name }) => name === to)?.write;
  if (write !== undefined) return write;
  const names = layouts.parts.filter((layout) => layout.write !== undefined);
  throw new ConfigError(
    "PART_UNKNOWN",
    `--to is "${to}"; ${found}, which this layout cannot store. ${suggest(
      to,
      names.map(({ name }) => name),
    )}`,
  );
}

const PLACEHOLDER = "{question}";

function promptOf(template = PLACEHOLDER): (task: Task) => string {
  if (!template.includes(PLACEHOLDER))
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `--prompt: the text has no ${PLACEHOLDER}; put ${PLACEHOLDER} where the question goes.`,
    );
  return ({ question }) => template.replaceAll(PLACEHOLDER, () => question);
}

async function* written(
  tasks: AsyncIterable<PlacedTask>,
  write: TaskWriter,
  rows: { from: string; split: string; prompt: (task: Task) => string; lost: Conversion["lost"] },
): AsyncGenerator<object> {
  const { from, split, prompt, lost } = rows;
  let index = 0;
  for await (const { task } of tasks) {
    for (const key of Object.keys(task.annotations)) {
      if (write.keeps !== "all" && !write.keeps.includes(key)) lost[key] = (lost[key] ?? 0) + 1;
    }
    yield write.record(task, { index, split, prompt: prompt(task) });
    index += 1;
  }
  if (index === 0)
    throw new DataError("DATA_EMPTY", `${from}: contains no records; at least one is required.`);
}

async function* mapped<T>(
  items: AsyncIterable<T>,
  write: (item: T) => object,
): AsyncGenerator<object> {
  for await (const item of items) yield write(item);
}
