import { DataError } from "../base/errors.ts";
import { quote } from "../base/schema.ts";
import { textLines } from "../base/text-lines.ts";

/** Query id → passage id → relevance; above 0 means relevant. */
export type Qrels = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * Relevance judgements: BEIR's three columns (query-id, corpus-id, score; with or without its header) or TREC's four
 * (query, 0, passage, relevance), separated by tabs or spaces.
 *
 * @throws {DataError} FILE_MISSING, QRELS_BAD_LINE.
 */
export async function readQrels(path: string): Promise<Qrels> {
  const qrels = new Map<string, Map<string, number>>();
  for await (const { text, where } of textLines(path)) {
    const columns = text.trim().split(/\s+/);
    if (columns[0] === "query-id") continue;
    const [query, passage, score] = columns.length === 4 ? columns.toSpliced(1, 1) : columns;
    const relevance = Number(score);
    if (
      query === undefined ||
      passage === undefined ||
      columns.length > 4 ||
      !Number.isInteger(relevance)
    ) {
      throw badQrelsLine(
        where,
        text,
        "query id, passage id, relevance (BEIR), or with a 0 as second column (TREC)",
      );
    }
    const judged = qrels.get(query) ?? new Map<string, number>();
    if ((judged.get(passage) ?? relevance) !== relevance) {
      const before = `one relevance of a passage; an earlier line says ${judged.get(passage) ?? ""}`;
      throw badQrelsLine(where, text, before);
    }
    judged.set(passage, relevance);
    qrels.set(query, judged);
  }
  return qrels;
}

/** QRELS_BAD_LINE, for a line of queries or judgements. */
export function badQrelsLine(where: string, found: unknown, allowed: string): DataError {
  return new DataError(
    "QRELS_BAD_LINE",
    `${where}: is ${quote(found)}; expected ${allowed}. Correct or remove the line.`,
  );
}
