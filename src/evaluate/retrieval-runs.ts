import { DataError } from "../base/errors.ts";
import { writeAtomic } from "../base/files.ts";
import { quote } from "../base/schema.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import type { Task } from "../trajectory/task.ts";
import { textLines } from "../base/text-lines.ts";

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

/** Queries per call of the retriever. */
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
