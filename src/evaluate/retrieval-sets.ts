import { DataError } from "../base/errors.ts";
import { numberId } from "../base/exact-json.ts";
import { readText, writeAtomic } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { quote } from "../base/schema.ts";
import { textLines } from "../base/text-lines.ts";
import { beirFolder } from "../data/beir-folder.ts";
import { type Qrels, badQrelsLine, readQrels } from "../data/qrels.ts";
import { loadTasks } from "../data/tasks.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import type { Task } from "../trajectory/task.ts";

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

/** A query of a retrieval test set. */
export interface RetrievalQuery {
  id: string;
  text: string;
  /** Its question, if it has one: for retrievers that read gold, and for results by hops. */
  task?: Task;
}

/** A passage and its score in a ranking. */
export type RankedHit = { id: string; score: number };

/** Query id → hits, best first. */
export type RetrievalRun = ReadonlyMap<string, readonly RankedHit[]>;

const BATCH = 64;

/** A retriever's ranking of every query, in its own order, with at most `depth` hits. */
export async function searchRun(
  retriever: Retriever,
  queries: readonly RetrievalQuery[],
  depth: number,
  options: { signal?: AbortSignal; onProgress?: (queries: number) => void } = {},
): Promise<RetrievalRun> {
  const run = new Map<string, RankedHit[]>();
  for (let at = 0; at < queries.length; at += BATCH) {
    const batch = queries.slice(at, at + BATCH);
    const contexts = batch.flatMap(({ task }) => (task === undefined ? [] : [{ task }]));
    const results = await retriever.search(
      batch.map(({ text }) => text),
      depth,
      { signal: options.signal, contexts: contexts.length === batch.length ? contexts : undefined },
    );
    for (const [i, { id }] of batch.entries()) {
      const hits = results[i] ?? [];
      run.set(
        id,
        hits.map((hit) => ({ id: hit.id, score: hit.score })),
      );
    }
    options.onProgress?.(run.size);
  }
  return run;
}

/**
 * A TREC run file (`query Q0 passage rank score tag`; `.gz` too) in trec_eval's order: by score as float32, ties by passage id, the greater
 * first; ranks are ignored. @throws {DataError} FILE_MISSING; RUN_BAD_LINE for another layout, or a passage twice.
 */
export async function readRun(path: string): Promise<RetrievalRun> {
  const run = new Map<string, Map<string, number>>();
  for await (const { text, where } of textLines(path)) {
    const [query, , passage, , score, tag, ...more] = text.trim().split(/\s+/);
    const value = Math.fround(Number(score));
    if (query === undefined || passage === undefined || Number.isNaN(value))
      throw badLine(where, text);
    if (tag === undefined || more.length > 0) throw badLine(where, text);
    const hits = run.get(query) ?? new Map<string, number>();
    if (hits.has(passage)) {
      const message = `${where}: query "${query}" has passage "${passage}" twice; a run names each once. Delete a line.`;
      throw new DataError("RUN_BAD_LINE", message);
    }
    hits.set(passage, value);
    run.set(query, hits);
  }
  const ordered = [...run].map(([query, hits]): [string, RankedHit[]] => {
    const list = [...hits].map(([id, score]) => ({ id, score }));
    return [query, list.sort((a, b) => b.score - a.score || byBytes(b.id, a.id))];
  });
  return new Map(ordered);
}

/**
 * Writes a TREC run that trec_eval reads in exactly this order: a float32 score that would sort before the previous hit becomes the next
 * smaller float. In `tag` spaces become "-". @throws {DataError} RUN_ID_BLANK before anything is written. @throws FILE_WRITE_FAILED
 */
export async function writeRun(path: string, run: RetrievalRun, tag: string): Promise<void> {
  for (const [query, hits] of run) {
    checkId("query", query);
    for (const { id } of hits) checkId("passage", id);
  }
  const name = tag.trim().replaceAll(/\s+/g, "-") || "run";
  await writeAtomic(path, async (write) => {
    for (const [query, hits] of run) {
      const lines = distinctScores(hits).map(
        ({ id, score }, i) => `${query} Q0 ${id} ${i + 1} ${score} ${name}\n`,
      );
      await write(lines.join(""));
    }
  });
}

/** The same hits with 32-bit scores that give exactly this order. */
function distinctScores(hits: readonly RankedHit[]): RankedHit[] {
  let before: RankedHit | undefined;
  return hits.map(({ id, score }) => {
    let written = Math.fround(score);
    if (before !== undefined) {
      const reordered = written === before.score && byBytes(id, before.id) > 0;
      if (written > before.score || reordered)
        written = reordered || byBytes(id, before.id) > 0 ? floatBelow(before.score) : before.score;
    }
    before = { id, score: written };
    return before;
  });
}

const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

function floatBelow(value: number): number {
  float[0] = value === 0 ? 0 : value;
  const [now = 0] = bits;
  // Floats of one sign are ordered like their bits; below 0 comes the negative float nearest to it.
  bits[0] = value === 0 ? -0x7fffffff : now > 0 ? now - 1 : now + 1;
  return float[0];
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function checkId(kind: string, id: string): void {
  if (/^\S+$/.test(id)) return;
  const message = `--run-out: the ${kind} id ${quote(id)} is empty or contains a space, and spaces separate the columns of a TREC run. Give the ${kind} another id.`;
  throw new DataError("RUN_ID_BLANK", message);
}

function badLine(where: string, text: string): DataError {
  const message = `${where}: is ${quote(text)}; expected six columns: query Q0 passage rank score tag. Correct or delete the line.`;
  return new DataError("RUN_BAD_LINE", message);
}
