import { DataError } from "../base/errors.ts";
import { numberId } from "../base/exact-json.ts";
import { readText } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { quote } from "../base/schema.ts";
import { textLines } from "../base/text-lines.ts";
import { beirFolder } from "../data/beir-folder.ts";
import { badQrelsLine, type Qrels, readQrels } from "../data/qrels.ts";
import { loadTasks } from "../data/tasks.ts";
import type { RetrievalQuery } from "./retrieval-runs.ts";

/** Queries in the layouts of BEIR and TREC; relevance judgements: data/qrels.ts. */

/**
 * Queries: BEIR's `queries.jsonl` ({_id, text} or {id, question}); lines of id, tab, text; or titles of TREC topics; `.gz` too.
 * @throws {DataError} FILE_MISSING, JSONL_BAD_LINE, QRELS_BAD_LINE
 */
export async function readQueries(path: string): Promise<RetrievalQuery[]> {
  const queries = await queriesOf(path);
  const ids = new Set<string>();
  for (const { id, text } of queries) {
    if (ids.has(id)) throw badQrelsLine(path, { id, text }, "each query id once");
    ids.add(id);
  }
  return queries;
}

async function queriesOf(path: string): Promise<RetrievalQuery[]> {
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
  for await (const { value, line } of readJsonl(path, { exact: true })) {
    const record = (typeof value === "object" ? value : null) as Record<string, unknown> | null;
    const given = record?.["_id"] ?? record?.["id"];
    const id = typeof given === "string" ? given : numberId(given);
    const text = record?.["text"] ?? record?.["question"];
    if (id === null || typeof text !== "string")
      throw badQrelsLine(`${path}:${line}`, value, 'an object with "_id" and "text"');
    queries.push({ id, text });
  }
  return queries;
}

/**
 * TREC topics: `<num>` and `<title>`, closed or not; the title is the query, as in title-only runs. @throws {DataError} QRELS_BAD_LINE
 * @example parseTopics("<top><num> Number: 301 <title> Organized Crime <desc> …</top>", "t") // [{ id: "301", … }]
 */
function parseTopics(text: string, path: string): RetrievalQuery[] {
  return text
    .split(/<top>/i)
    .slice(1)
    .map((topic, i) => {
      const id = field(topic, "num").replace(/^number:\s*/i, "");
      const title = field(topic, "title").replace(/^topic:\s*/i, "");
      if (id !== "" && title !== "") return { id, text: title };
      const message = `${path}: topic ${i + 1} is ${quote(topic.trim())}; expected non-empty <num> and <title>. Correct or delete the topic.`;
      throw new DataError("QRELS_BAD_LINE", message);
    });
}

function field(topic: string, tag: string): string {
  const content = new RegExp(`<${tag}>([^<]*)`, "i").exec(topic)?.[1] ?? "";
  return content.replaceAll(/\s+/g, " ").trim();
}

/** Test sets of retrieval: queries with their relevant passages. */

/** Queries, judgements, and where their passages are. */
export interface RetrievalSet {
  queries: RetrievalQuery[];
  qrels: Qrels;
  names: { qrels: string; queries: string };
  /** File with the passages, if the set has its own. */
  corpus?: string;
}

/** Queries and judgements from two files; without queries every judged query, with an empty text. @throws as readQueries, readQrels. */
export async function filesSet(qrelsPath: string, queriesPath?: string): Promise<RetrievalSet> {
  const queries = queriesPath === undefined ? undefined : await readQueries(queriesPath);
  const qrels = await readQrels(qrelsPath);
  return {
    queries: queries ?? [...qrels.keys()].map((id) => ({ id, text: "" })),
    qrels,
    names: { qrels: qrelsPath, queries: queriesPath ?? qrelsPath },
  };
}

/** A BEIR folder: queries.jsonl, qrels/<split>.tsv, corpus.jsonl, `.gz` too. @throws {DataError} FILE_MISSING with the existing splits. */
export async function beirSet(folder: string, split: string): Promise<RetrievalSet> {
  const files = await beirFolder(folder, split);
  const set = await filesSet(files.qrels, files.queries);
  // queries.jsonl has the queries of all splits.
  const queries = set.queries.filter(({ id }) => set.qrels.has(id));
  return { ...set, queries, ...(files.corpus === null ? {} : { corpus: files.corpus }) };
}

/** Questions as queries, their supporting passages as relevant ones. @throws {DataError} as loadTasks. */
export async function questionsSet(path: string): Promise<RetrievalSet> {
  const tasks = await loadTasks(path);
  const support = tasks.flatMap(({ id, annotations: { supportingPassages } }) =>
    supportingPassages === undefined
      ? []
      : [[id, new Map(supportingPassages.map((passage) => [passage, 1]))] as const],
  );
  return {
    queries: tasks.map((task) => ({ id: task.id, text: task.question, task })),
    qrels: new Map(support),
    names: { qrels: path, queries: path },
    corpus: tasks.some(({ annotations }) => annotations.context !== undefined) ? path : undefined,
  };
}
