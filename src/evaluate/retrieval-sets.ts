/** Test sets of retrieval: queries with the passages that are relevant to them. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DataError, errorMessage } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import { loadTasks } from "../data/tasks.ts";
import { readQrels, readQueries } from "./retrieval-files.ts";
import type { Qrels } from "./retrieval-metrics.ts";
import type { RetrievalQuery } from "./retrieval-runs.ts";

/** Queries, judgements, and where their passages are. */
export interface RetrievalSet {
  queries: RetrievalQuery[];
  qrels: Qrels;
  /** What messages call the judgements and the queries. */
  names: { qrels: string; queries: string };
  /** File with the passages, where the set has its own. */
  corpus?: string;
}

/**
 * Queries and judgements from two files; without queries every judged query counts, with an empty text: enough to
 * score a run.
 *
 * @throws {DataError} as readQueries and readQrels.
 */
export async function filesSet(qrelsPath: string, queriesPath?: string): Promise<RetrievalSet> {
  const queries = queriesPath === undefined ? undefined : await readQueries(queriesPath);
  const qrels = await readQrels(qrelsPath);
  return {
    queries: queries ?? [...qrels.keys()].map((id) => ({ id, text: "" })),
    qrels,
    names: { qrels: qrelsPath, queries: queriesPath ?? qrelsPath },
  };
}

/**
 * A dataset folder of BEIR: queries.jsonl, qrels/<split>.tsv, corpus.jsonl; each may be `.gz`.
 * @throws {DataError} FILE_MISSING with the splits that there are; as readQueries and readQrels.
 */
export async function beirSet(folder: string, split: string): Promise<RetrievalSet> {
  const judged = await readdir(join(folder, "qrels")).catch((error: unknown) => {
    throw new DataError(
      "FILE_MISSING",
      `${folder}: has no folder qrels (${errorMessage(error)}); expected BEIR's queries.jsonl, qrels/<split>.tsv and corpus.jsonl. For other layouts use --queries and --qrels.`,
      { cause: error },
    );
  });
  const splits = judged.flatMap((file) => /^(.+)\.tsv(?:\.gz)?$/.exec(file)?.[1] ?? []).sort();
  if (!splits.includes(split)) {
    throw new DataError(
      "FILE_MISSING",
      `${folder}/qrels: has no split "${split}". ${suggest(split, splits)}`,
    );
  }
  const corpus = packedOrNot(join(folder, "corpus.jsonl"));
  const set = await filesSet(
    packedOrNot(join(folder, "qrels", `${split}.tsv`)),
    packedOrNot(join(folder, "queries.jsonl")),
  );
  // A folder's queries are those of all its splits.
  const queries = set.queries.filter(({ id }) => set.qrels.has(id));
  return { ...set, queries, ...(existsSync(corpus) ? { corpus } : {}) };
}

/**
 * Questions as queries, their supporting passages as relevant ones, from a file in any layout whose questions tell them.
 * @throws {DataError} as loadTasks.
 */
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
    ...(tasks.some(({ annotations }) => annotations.context !== undefined) ? { corpus: path } : {}),
  };
}

function packedOrNot(path: string): string {
  return !existsSync(path) && existsSync(`${path}.gz`) ? `${path}.gz` : path;
}
