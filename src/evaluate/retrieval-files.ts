/** Queries and relevance judgements in the layouts of BEIR and TREC. */
import { DataError } from "../base/errors.ts";
import { readText } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { quote } from "../base/schema.ts";
import type { Qrels } from "./retrieval-metrics.ts";
import type { RetrievalQuery } from "./retrieval-runs.ts";
import { textLines } from "./text-lines.ts";
import { parseTopics } from "./trec-topics.ts";

/**
 * Queries: BEIR's `queries.jsonl` ({_id, text}; {id, question} too), `.gz` or not; lines of id, tab, text; or TREC topics,
 * whose titles are the queries.
 *
 * @throws {DataError} FILE_MISSING, JSONL_BAD_LINE, QRELS_BAD_LINE.
 */
export async function readQueries(path: string): Promise<RetrievalQuery[]> {
  const queries: RetrievalQuery[] = [];
  if (!/\.jsonl(\.gz)?$/.test(path)) {
    for await (const { text, where } of textLines(path)) {
      if (queries.length === 0 && /^\s*<top>/i.test(text))
        return parseTopics(await readText(path), path);
      const tab = text.indexOf("\t");
      if (tab <= 0) throw badLine(where, text, "a query id, a tab, and the query");
      queries.push({ id: text.slice(0, tab), text: text.slice(tab + 1) });
    }
    return queries;
  }
  for await (const { value, line } of readJsonl(path)) {
    const record = (typeof value === "object" ? value : null) as Record<string, unknown> | null;
    const id = record?.["_id"] ?? record?.["id"];
    const text = record?.["text"] ?? record?.["question"];
    if ((typeof id !== "string" && typeof id !== "number") || typeof text !== "string") {
      throw badLine(`${path}:${line}`, value, 'an object with "_id" and "text"');
    }
    queries.push({ id: String(id), text });
  }
  return queries;
}

/**
 * Relevance judgements: BEIR's three columns (query-id, corpus-id, score; with or without its header) or TREC's four
 * (query, 0, passage, relevance), apart by tabs or spaces.
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
      throw badLine(
        where,
        text,
        "query id, passage id, relevance (BEIR), or with a 0 as second column (TREC)",
      );
    }
    const judged = qrels.get(query) ?? new Map<string, number>();
    judged.set(passage, relevance);
    qrels.set(query, judged);
  }
  return qrels;
}

function badLine(where: string, found: unknown, allowed: string): DataError {
  return new DataError(
    "QRELS_BAD_LINE",
    `${where}: is ${quote(found)}; expected ${allowed}. Mend or drop the line.`,
  );
}
