/** Test sets of retrieval: queries with the passages that are relevant to them. */
import { beirFolder } from "../data/beir-folder.ts";
import { type Qrels, readQrels } from "../data/qrels.ts";
import { loadTasks } from "../data/tasks.ts";
import { readQueries } from "./retrieval-files.ts";
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
  const files = await beirFolder(folder, split);
  const set = await filesSet(files.qrels, files.queries);
  // A folder's queries are those of all its splits.
  const queries = set.queries.filter(({ id }) => set.qrels.has(id));
  return { ...set, queries, ...(files.corpus === null ? {} : { corpus: files.corpus }) };
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
