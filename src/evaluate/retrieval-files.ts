/** Queries in the layouts of BEIR and TREC; relevance judgements: data/qrels.ts. */
import { readText } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { textLines } from "../base/text-lines.ts";
import { badQrelsLine } from "../data/qrels.ts";
import type { RetrievalQuery } from "./retrieval-runs.ts";
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
      if (tab <= 0) throw badQrelsLine(where, text, "a query id, a tab, and the query");
      queries.push({ id: text.slice(0, tab), text: text.slice(tab + 1) });
    }
    return queries;
  }
  for await (const { value, line } of readJsonl(path)) {
    const record = (typeof value === "object" ? value : null) as Record<string, unknown> | null;
    const id = record?.["_id"] ?? record?.["id"];
    const text = record?.["text"] ?? record?.["question"];
    if ((typeof id !== "string" && typeof id !== "number") || typeof text !== "string") {
      throw badQrelsLine(`${path}:${line}`, value, 'an object with "_id" and "text"');
    }
    queries.push({ id: String(id), text });
  }
  return queries;
}
