import { ConfigError } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import type { Part, Registry } from "../base/registry.ts";
import { corpusLayouts, taskLayouts } from "./layouts/index.ts";
import { corpusLayoutOf, readPassages } from "./passages.ts";
import { readRecords } from "./records.ts";
import { readTasks } from "./tasks.ts";
import { writeJsonl, type WrittenFile } from "./write-jsonl.ts";

/** What `convertFile` did. */
export interface Conversion extends WrittenFile {
  kind: "questions" | "corpus";
}

/** Layouts that questions can be written in. */
export const WRITABLE_LAYOUTS: readonly string[] = taskLayouts.parts
  .filter(({ write }) => write !== undefined)
  .map(({ name }) => name);

/**
 * Rewrites a question file or a corpus in another layout, as JSON lines, streamed. `out` appears whole or not at all.
 *
 * @param to "agentrl" (loses nothing), "hotpotqa" (questions only) or "flashrag" (decomposition and passage ids of
 *   questions have no place there).
 * @throws {ConfigError} PART_UNKNOWN when no such layout can hold what `from` holds.
 * @throws {DataError} as `loadTasks` and `readPassages`.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function convertFile(
  from: string,
  out: string,
  to: string,
  signal?: AbortSignal,
): Promise<Conversion> {
  if (await isCorpus(from)) {
    const write = writerOf(corpusLayouts, to, `${from} is a corpus`);
    return {
      kind: "corpus",
      ...(await writeJsonl(out, mapped(readPassages(from), write), signal)),
    };
  }
  const write = writerOf(taskLayouts, to, `${from} holds questions`);
  const records = mapped(readTasks(from), ({ task }) => write(task));
  return { kind: "questions", ...(await writeJsonl(out, records, signal)) };
}

async function isCorpus(path: string): Promise<boolean> {
  for await (const { record } of readRecords(path)) return corpusLayoutOf(record) !== undefined;
  return false;
}

function writerOf<T>(
  layouts: Registry<Part & { write?: (item: T) => object }>,
  to: string,
  found: string,
): (item: T) => object {
  const write = layouts.parts.find(({ name }) => name === to)?.write;
  if (write !== undefined) return write;
  const names = layouts.parts.filter((layout) => layout.write !== undefined);
  throw new ConfigError(
    "PART_UNKNOWN",
    `--to is "${to}"; ${found}, which cannot be written so. ${suggest(
      to,
      names.map(({ name }) => name),
    )}`,
  );
}

async function* mapped<T>(
  items: AsyncIterable<T>,
  write: (item: T) => object,
): AsyncGenerator<object> {
  for await (const item of items) yield write(item);
}
