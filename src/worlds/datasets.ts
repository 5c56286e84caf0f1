import { existsSync } from "node:fs";
import { ConfigError } from "../base/errors.ts";
import { sha256, sha256File, STDIN } from "../base/files.ts";
import { suggest } from "../base/nearest.ts";
import { type Registry, registry } from "../base/registry.ts";
import { parseOptions, z } from "../base/schema.ts";
import { isPath } from "../base/setting-path.ts";
import { byTries } from "../data/by-tries.ts";
import { arithmetic } from "../data/arithmetic.ts";
import { beirFolder, isBeirFolder, readBeirTasks } from "../data/beir-folder.ts";
import { cardDatasets } from "../data/cards/card-dataset.ts";
import { dataSource, isDataFolder } from "../data/data-folder.ts";
import {
  type Dataset,
  type DatasetPart,
  type DatasetSetting,
  defineDataset,
  type OwnTasks,
} from "../data/dataset.ts";
import { fieldFlags, type Fields, fieldsSchema } from "../data/fields.ts";
import { environmentTasks } from "../data/environment-tasks.ts";
import { oneHop } from "../data/one-hop.ts";
import { partOf, questionPart } from "../data/question-part.ts";
import { readPassages } from "../data/passages.ts";
import { distinctTasks, streamTasks } from "../data/tasks.ts";
import { worlds } from "./index.ts";

const filesOptions = z.strictObject({
  /** Question file; or a dataset folder, also FOLDER:SPLIT. */
  tasks: z.string().meta(isPath()),
  /** Corpus file, or a folder of texts; default: the questions' own contexts. */
  corpus: z.string().optional().meta(isPath()),
  /** The user's names for the fields of both files, for files in no known layout; `id` is that of the questions. */
  fields: fieldsSchema.optional(),
  part: questionPart,
});

const filesDataset = defineDataset({
  name: "files",
  summary: "Questions of a file, passages of another or contexts.",
  options: filesOptions,
  async open({ tasks, corpus, fields, part }) {
    const hashes = [await hashOf(tasks), corpus === undefined ? "" : await hashOf(corpus)];
    if (fields !== undefined) hashes.push(JSON.stringify(fields));
    if (part !== undefined) hashes.push(part);
    const { question, answer, id, answerSeparator, ...ofPassages } = fields ?? {};
    const read = { fields: { question, answer, id, answerSeparator } };
    return {
      name: part === undefined ? tasks : `${tasks} (${part})`,
      fingerprint: `files-${sha256(hashes.join()).slice(0, 16)}`,
      stream: (limit) => partOf(streamTasks(tasks, read), part, limit),
      passages: () => readPassages(corpus ?? tasks, ofPassages),
    };
  },
});

/** The hash of a data file, or of all files of a folder. */
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

const beirDataset = defineDataset({
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

/** All datasets: of the worlds, from files, generated and from cards. */
export const datasets: Registry<DatasetPart> = registry("dataset", [
  ...worlds.parts.flatMap((world) => world.datasets),
  filesDataset,
  beirDataset,
  byTries,
  oneHop,
  arithmetic,
  environmentTasks,
  ...cardDatasets,
]);

/**
 * The value of a dataset flag: a registered dataset, NAME:SPLIT, a question file, or a BEIR folder (also with :SPLIT).
 * A name wins over a file.
 *
 * @param where the flag, for messages.
 * @param fields the user's names for the fields of a question file.
 * @throws {ConfigError} PART_UNKNOWN when it is none of these, with the nearest name; USAGE for fields of a dataset whose fields are known.
 */
export function datasetNamed(given: string, where: string, fields: Fields = {}): DatasetSetting {
  const found = namedOrFile(given, where);
  if (Object.keys(fields).length === 0) return found;
  if (found.name === "files") return { ...found, fields };
  throw new ConfigError(
    "USAGE",
    `${where} is "${given}", whose fields are known: ${fieldFlags(fields).join(", ")} would have no effect. Leave it out, or name a file.`,
  );
}

function namedOrFile(given: string, where: string): DatasetSetting {
  const [, name = given, split] = /^(.+):([\w-]+)$/.exec(given) ?? [];
  const withSplit = split === undefined ? {} : { split };
  if (datasets.names.includes(name)) return { name, ...withSplit };
  if (isBeirFolder(name)) return { name: "beir", folder: name, ...withSplit };
  // No corpus: a corpus in the recipe belongs to the recipe's question file, not to this one.
  if (given === STDIN || existsSync(given) || isDataFolder(given))
    return { name: "files", tasks: given, corpus: undefined };
  throw new ConfigError(
    "PART_UNKNOWN",
    `${where} is "${given}"; there is no such file and no such dataset. ${suggest(name, datasets.names)}`,
  );
}

/**
 * Opens the dataset of a recipe or flag: a registered dataset with options (`{ name: hotpotqa, split: dev }`), or a text for
 * `datasetNamed`.
 *
 * @param where the recipe key or flag, for messages.
 * @param own tasks of the recipe's environment, if it makes any.
 * @throws {ConfigError} PART_UNKNOWN, RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY; DATASET_ABSENT with the command that downloads it.
 * @throws {DataError} FILE_MISSING
 */
export async function openDataset(
  given: string | DatasetSetting,
  where: string,
  own?: OwnTasks,
): Promise<Dataset> {
  const { name, ...options } = typeof given === "string" ? datasetNamed(given, where) : given;
  const part = datasets.get(name, `${where}.name`);
  return part.open(parseOptions(part.options, options, where), {
    own,
    open: (inner) => openDataset(inner, "of", own),
  });
}
