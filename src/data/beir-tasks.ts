import { basename } from "node:path";
import type { Task } from "../trajectory/task.ts";
import { beirFolder } from "./beir-folder.ts";
import { readQrels } from "./qrels.ts";
import { type PlacedTask, readTasks } from "./tasks.ts";

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
