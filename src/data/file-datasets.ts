import { sha256, sha256File } from "../base/files.ts";
import { z } from "../base/schema.ts";
import { isPath } from "../base/setting-path.ts";
import { beirFolder, readBeirTasks } from "./beir-folder.ts";
import { dataSource } from "./data-folder.ts";
import { defineDataset } from "./dataset.ts";
import { fieldsSchema } from "./fields.ts";
import { readPassages } from "./passages.ts";
import { partOf, questionPart } from "./question-part.ts";
import { distinctTasks, streamTasks } from "./tasks.ts";

const filesOptions = z.strictObject({
  /** Question file; or a dataset folder, also FOLDER:SPLIT. */
  tasks: z.string().meta(isPath()),
  /** Corpus file, or a folder of texts; default: the questions' own contexts. */
  corpus: z.string().optional().meta(isPath()),
  /** The user's names for the fields of both files, for files in no known layout; `id` is that of the questions. */
  fields: fieldsSchema.optional(),
  part: questionPart,
  /** Most questions, from the start; absent: all. */
  limit: z.int().min(1).optional(),
});

export const filesDataset = defineDataset({
  name: "files",
  summary: "Questions of a file, passages of another or contexts.",
  options: filesOptions,
  async open({ tasks, corpus, fields, part, limit: most = Infinity }) {
    const hashes = [await hashOf(tasks), corpus === undefined ? "" : await hashOf(corpus)];
    if (fields !== undefined) hashes.push(JSON.stringify(fields));
    if (part !== undefined) hashes.push(part);
    if (most < Infinity) hashes.push(`first ${most}`);
    const { question, answer, id, answerSeparator, ...ofPassages } = fields ?? {};
    const read = { fields: { question, answer, id, answerSeparator } };
    return {
      name: part === undefined ? tasks : `${tasks} (${part})`,
      fingerprint: `files-${sha256(hashes.join()).slice(0, 16)}`,
      stream: (limit) => partOf(streamTasks(tasks, read), part, Math.min(most, limit)),
      passages: () => readPassages(corpus ?? tasks, ofPassages),
    };
  },
});

async function hashOf(path: string): Promise<string> {
  const { files } = await dataSource(path);
  const hashes: string[] = [];
  for (const file of files) hashes.push(await sha256File(file));
  return hashes.length === 1 ? hashes.join() : sha256(hashes.join());
}

const beirOptions = z.strictObject({
  /** Folder with queries.jsonl, qrels/ and corpus.jsonl. */
  folder: z.string().meta(isPath()),
  split: z.string().default("test"),
});

export const beirDataset = defineDataset({
  name: "beir",
  summary: "A BEIR folder whose queries have answers.",
  options: beirOptions,
  async open({ folder, split }) {
    const files = await beirFolder(folder, split);
    const paths = [files.queries, files.qrels, ...(files.corpus === null ? [] : [files.corpus])];
    const hashes: string[] = [];
    for (const path of paths) hashes.push(await sha256File(path));
    return {
      name: `${folder}:${split}`,
      fingerprint: `beir-${sha256(hashes.join()).slice(0, 16)}`,
      stream: (limit) => distinctTasks(readBeirTasks(folder, split), files.queries, limit),
      passages: () => readPassages(files.corpus ?? files.queries),
    };
  },
});
