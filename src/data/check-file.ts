import { DataError } from "../base/errors.ts";
import { taskLayouts } from "./layouts/index.ts";
import { type TaskRead, RECORD_ADVICE } from "./layouts/layout.ts";
import type { Passage } from "../trajectory/task.ts";
import { corpusLayoutOf } from "./passages.ts";
import { type PlacedRecord, readRecords } from "./records.ts";
import { sourceName, taskLayoutOf } from "./tasks.ts";

/** The kind of a data file and all its problems. */
export interface FileReport {
  kind: "questions" | "corpus" | "unknown";
  /** Name of the layout; null when the first record fits none. */
  layout: string | null;
  /** Number of records, valid or not; lines that are not JSON objects do not count. */
  records: number;
  /** One message per invalid line, in order; each starts with its place. */
  problems: string[];
}

/**
 * Reads a question file or corpus to its end and lists every invalid line instead of stopping at the first. Compares
 * ids, so memory grows with them.
 *
 * @throws {DataError} FILE_MISSING
 */
export async function checkFile(path: string, signal?: AbortSignal): Promise<FileReport> {
  const report: FileReport = { kind: "unknown", layout: null, records: 0, problems: [] };
  const places = new Map<string, string>();
  let read: ((placed: PlacedRecord) => Passage | TaskRead) | null | undefined;
  const onBad = (error: DataError): void => {
    report.problems.push(error.message.replace(RECORD_ADVICE, ""));
  };
  for await (const placed of readRecords(path, { onBad })) {
    signal?.throwIfAborted();
    report.records += 1;
    if (read === undefined) read = chooseReader(placed, report);
    if (read === null) continue;
    try {
      const id = read(placed).id ?? `${sourceName(path)}-${placed.number}`;
      const before = places.get(id);
      if (before !== undefined) {
        report.problems.push(`${placed.where}: the id "${id}" is the same as in ${before}.`);
      } else places.set(id, placed.where);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      onBad(error);
    }
  }
  if (report.records === 0 && report.problems.length === 0) {
    report.problems.push(`${path}: contains no records; at least one is required.`);
  }
  return report;
}

function chooseReader(
  { record, where }: PlacedRecord,
  report: FileReport,
): ((placed: PlacedRecord) => Passage | TaskRead) | null {
  const corpus = corpusLayoutOf(record);
  const questions = taskLayoutOf(record);
  const layout = corpus ?? questions;
  if (layout === undefined) {
    report.problems.push(
      `${where}: a record with the keys ${Object.keys(record).join(", ")} has no known layout. Known: ${taskLayouts.names.join(", ")}, and corpora with id and text or contents.`,
    );
    return null;
  }
  report.kind = corpus === undefined ? "questions" : "corpus";
  report.layout = layout.name;
  return (placed) => layout.read(placed.record, placed.where);
}
