import { DataError } from "../base/errors.ts";
import type { Passage, Task } from "../trajectory/task.ts";
import type { Fields, FoundFields } from "./fields.ts";
import { type CorpusFile, dataFile, type QuestionFile } from "./file-layout.ts";
import { RECORD_ADVICE } from "./layouts/layout.ts";
import { type PlacedRecord, readRecords } from "./records.ts";
import { sourceName } from "./tasks.ts";

const SAMPLE = 3;

/** The kind of a data file and all its problems. */
export interface FileReport {
  kind: "questions" | "corpus" | "unknown";
  /** Name of the layout; null when the first record fits none. */
  layout: string | null;
  /** The fields of a file in no known layout. */
  fields: FoundFields | null;
  /** Number of records, valid or not; lines that are not JSON objects do not count. */
  records: number;
  /** The first valid records, as they were understood. */
  sample: (Omit<Task, "source"> | Passage)[];
  /** One message per invalid line, in order; each starts with its place. */
  problems: string[];
  /** Questions about accepted answers that may be read wrongly. */
  notices: string[];
}

/**
 * Reads a question file or corpus to its end and lists every invalid line instead of stopping at the first. Compares
 * ids, so memory grows with them.
 *
 * @throws {DataError} FILE_MISSING
 */
export async function checkFile(
  path: string,
  { fields, signal }: { fields?: Fields; signal?: AbortSignal | undefined } = {},
): Promise<FileReport> {
  const report: FileReport = {
    kind: "unknown",
    layout: null,
    fields: null,
    records: 0,
    sample: [],
    problems: [],
    notices: [],
  };
  const places = new Map<string, string>();
  let file: QuestionFile | CorpusFile | null | undefined;
  const onBad = (error: unknown): void => {
    if (!(error instanceof DataError)) throw error;
    report.problems.push(error.message.replace(RECORD_ADVICE, ""));
  };
  for await (const placed of readRecords(path, { onBad })) {
    signal?.throwIfAborted();
    report.records += 1;
    if (file === undefined) {
      file = understood(placed, fields, onBad);
      if (file !== null)
        [report.kind, report.layout, report.fields] = [file.kind, file.layout, file.fields];
    }
    if (file === null) continue;
    try {
      const read = file.read(placed.record, placed.where);
      const { id = `${sourceName(path)}-${placed.number}` } = read;
      if (report.sample.length < SAMPLE) report.sample.push({ ...read, id });
      const before = places.get(id);
      if (before !== undefined) {
        report.problems.push(`${placed.where}: the id "${id}" is the same as in ${before}.`);
      } else places.set(id, placed.where);
    } catch (error) {
      onBad(error);
    }
  }
  if (file?.kind === "questions") report.notices = file.doubts.notices();
  if (report.records === 0 && report.problems.length === 0)
    report.problems.push(`${path}: contains no records; at least one is required.`);
  return report;
}

function understood(
  first: PlacedRecord,
  fields: Fields | undefined,
  onBad: (error: unknown) => void,
): QuestionFile | CorpusFile | null {
  try {
    return dataFile(first, fields);
  } catch (error) {
    onBad(error);
    return null;
  }
}
