import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, basename } from "node:path";
import { DataError, errorMessage } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import type { Task } from "../trajectory/task.ts";
import { readQrels } from "./qrels.ts";
import { readTasks, type PlacedTask } from "./tasks.ts";

/** The files of a BEIR dataset folder; each may be `.gz`. */
interface BeirFolder {
  queries: string;
  /** Judgements of the split. */
  qrels: string;
  /** Null when it has none. */
  corpus: string | null;
}

export function isBeirFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory() && beirFiles(path) !== null;
}

/** The files that all splits of a BEIR folder share; null when it is not one. */
export function beirFiles(folder: string): Omit<BeirFolder, "qrels"> | null {
  const queries = packedOrNot(join(folder, "queries.jsonl"));
  const corpus = packedOrNot(join(folder, "corpus.jsonl"));
  return existsSync(queries) ? { queries, corpus: existsSync(corpus) ? corpus : null } : null;
}

/**
 * Finds BEIR's `queries.jsonl`, `qrels/<split>.tsv`, `corpus.jsonl`.
 * @throws {DataError} FILE_MISSING with the existing splits.
 */
export async function beirFolder(folder: string, split: string): Promise<BeirFolder> {
  const judged = await readdir(join(folder, "qrels")).catch((error: unknown) => {
    throw new DataError(
      "FILE_MISSING",
      `${folder}: has no folder qrels (${errorMessage(error)}); expected BEIR's queries.jsonl, qrels/<split>.tsv and corpus.jsonl. For other layouts use --queries and --qrels.`,
      { cause: error },
    );
  });
  const splits = judged.flatMap((file) => /^(.+)\.tsv(?:\.gz)?$/.exec(file)?.[1] ?? []).sort();
  if (!splits.includes(split))
    throw new DataError(
      "FILE_MISSING",
      `${folder}/qrels: has no split "${split}". ${suggest(split, splits)}`,
    );
  const { queries, corpus } = beirFiles(folder) ?? {
    queries: join(folder, "queries.jsonl"),
    corpus: null,
  };
  return { queries, corpus, qrels: packedOrNot(join(folder, "qrels", `${split}.tsv`)) };
}

function packedOrNot(path: string): string {
  return !existsSync(path) && existsSync(`${path}.gz`) ? `${path}.gz` : path;
}

/**
 * The questions of a split, streamed: the queries in its judgements, with the relevant passages as supporting passages.
 * @throws {DataError} as `beirFolder` and `readTasks`; DATA_BAD_RECORD for a query without an answer.
 */
export async function* readBeirTasks(folder: string, split: string): AsyncGenerator<PlacedTask> {
  const files = await beirFolder(folder, split);
  const qrels = await readQrels(files.qrels);
  const source = basename(folder);
  for await (const { task, ...placed } of readTasks(files.queries, {
    wanted: (id) => qrels.has(id),
  })) {
    const judged = [...(qrels.get(task.id) ?? [])];
    const supportingPassages = judged.flatMap(([id, relevance]) => (relevance > 0 ? id : []));
    const annotations: Task["annotations"] = { ...task.annotations, supportingPassages };
    annotations.hops ??= supportingPassages.length;
    yield { ...placed, task: { ...task, source, annotations } };
  }
}
