import { join } from "node:path";
import { DataError } from "../base/errors.ts";
import { readJson, sha256File, writeJson } from "../base/files.ts";
import { checkOptions, parseOptions, z } from "../base/schema.ts";
import type { Dataset, DatasetContext, DatasetPart } from "../data/dataset.ts";
import { agentrlCorpus, agentrlTasks } from "../data/layouts/agentrl.ts";
import type { TaskLayout } from "../data/layouts/layout.ts";
import { readPassages } from "../data/passages.ts";
import { loadTasks } from "../data/tasks.ts";
import { writeJsonl, type WrittenFile } from "../data/write-jsonl.ts";
import type { Passage, Task } from "../trajectory/task.ts";

/** Files of a generated world: one `<split>.jsonl` of questions per split, `corpus.jsonl` where it has passages, and `manifest.json`. */
export interface WorldFolder {
  /** Settings of `generate`: those of the world's dataset, with `splits` in place of `split`. */
  readonly options: z.ZodObject;
  /** Names of the files that `generate` writes. @throws as `generate`, for settings. */
  files(settings: unknown): string[];
  /**
   * Writes the files into `out` (made if missing), the manifest last. Equal settings give equal bytes.
   * @throws {ConfigError} RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY. @throws {ExternalError} FILE_WRITE_FAILED; earlier files stay.
   */
  generate(
    out: string,
    settings: unknown,
    options?: { signal?: AbortSignal; onProgress?: (records: number) => void },
  ): Promise<WorldManifest>;
  /**
   * Compares the files with the manifest, and runs the world's own check. A changed file is reported and still checked.
   * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, DATA_BAD_RECORD when the manifest or a file is missing or invalid.
   */
  check(folder: string): Promise<WorldReport & { changedFiles: string[] }>;
}

/** Content of a world's `manifest.json`: beside these its settings. */
export interface WorldManifest extends Record<string, unknown> {
  format: string;
  version: number;
  files: Record<string, WrittenFile>;
}

export interface WorldReport {
  counts: Record<string, number>;
  problems: readonly { where: string; code: string; message: string }[];
}

/** Verifies a written world by its texts. `passages` can be called several times. */
export type WorldCheck = (written: {
  tasks: Task[];
  passages: () => AsyncIterable<Passage>;
}) => WorldReport | Promise<WorldReport>;

/** The schema of `splits`, from that of one split. */
export function splitsSchema<T extends string>(split: z.ZodType<T>) {
  return z
    .array(split)
    .min(1)
    .default(["train", "dev", "test"] as T[])
    .transform((splits) => [...new Set(splits)]);
}

interface Written {
  dataset: DatasetPart;
  version: number;
  hasPassages: boolean;
  options?: z.ZodObject;
  layout?: TaskLayout;
  check?: WorldCheck;
}

/** The folder of a world. */
export function worldFolder(world: Written): WorldFolder {
  const { dataset, version, hasPassages, layout = agentrlTasks, check } = world;
  const { name } = dataset;
  const { split = z.string(), ...shape } = dataset.options.shape as Record<string, z.ZodString>;
  const options = world.options ?? z.strictObject({ ...shape, splits: splitsSchema(split) });
  const parsed = (given: unknown) =>
    parseOptions(options, given, name) as { splits: string[] } & Record<string, unknown>;
  return {
    options,
    files: (given) => [
      ...parsed(given).splits.map((each) => `${each}.jsonl`),
      ...(hasPassages ? [CORPUS] : []),
      MANIFEST,
    ],
    async generate(out, given, { signal, onProgress = () => undefined } = {}) {
      const settings = parsed(given);
      const { splits, ...shared } = settings;
      const opened = await Promise.all(
        splits.map((each) => dataset.open({ ...shared, split: each }, ALONE)),
      );
      const files: Record<string, WrittenFile> = {};
      let made = 0;
      const write = async (file: string, records: AsyncIterable<object>): Promise<void> => {
        files[file] = await writeJsonl(join(out, file), counted(records), signal);
      };
      async function* counted(records: AsyncIterable<object>): AsyncGenerator<object> {
        for await (const record of records) {
          yield record;
          made += 1;
          if (made % 1000 === 0) onProgress(made);
        }
      }
      // Questions first: they are few, and an impossible mix fails before the large corpus is written.
      for (const [i, each] of splits.entries())
        await write(`${each}.jsonl`, questionRecords(opened[i]?.stream() ?? [], each, layout));
      if (hasPassages) await write(CORPUS, passageRecords(opened));
      const manifest = { format: formatOf(name), version, ...settings, files };
      await writeJson(join(out, MANIFEST), manifest);
      return manifest;
    },
    async check(folder) {
      const { names, changedFiles } = await compareWithManifest(folder, name);
      const tasks: Task[] = [];
      for (const file of names)
        if (file !== CORPUS) tasks.push(...(await loadTasks(join(folder, file))));
      const report = await check?.({ tasks, passages: () => readPassages(join(folder, CORPUS)) });
      return { counts: { questions: tasks.length }, problems: [], ...report, changedFiles };
    },
  };
}

const ALONE: DatasetContext = {
  open: ({ name }) => Promise.reject(new TypeError(`A world opens no other dataset: ${name}.`)),
};

const CORPUS = "corpus.jsonl";
const MANIFEST = "manifest.json";

async function* questionRecords(
  tasks: AsyncIterable<Task> | Iterable<Task>,
  split: string,
  layout: TaskLayout,
): AsyncGenerator<object> {
  let index = 0;
  for await (const task of tasks) {
    yield layout.write?.record(task, { index, split, prompt: task.question }) ?? {};
    index += 1;
  }
}

async function* passageRecords(ofSplits: readonly Dataset[]): AsyncGenerator<object> {
  for (const each of ofSplits)
    for await (const passage of each.passages()) yield agentrlCorpus.write?.(passage) ?? {};
}

/** The name of the world that a folder's manifest names; null where there is none. */
export async function worldOfFolder(folder: string): Promise<string | null> {
  const ofWorld = z.looseObject({ format: z.string().startsWith(FORMAT) });
  const manifest = checkOptions(ofWorld, await readJson(join(folder, MANIFEST)));
  return manifest.problem === null ? manifest.value.format.slice(FORMAT.length) : null;
}

const FORMAT = "agentrl-";

function formatOf(name: string): string {
  return `${FORMAT}${name}`;
}

const filesSchema = z.record(z.string(), z.object({ records: z.int(), sha256: z.string() }));

async function compareWithManifest(
  folder: string,
  name: string,
): Promise<{ names: string[]; changedFiles: string[] }> {
  const path = join(folder, MANIFEST);
  const schema = z.object({ format: z.literal(formatOf(name)), files: filesSchema });
  const manifest = checkOptions(schema, await readJson(path));
  if (manifest.problem !== null) {
    const { path: keys, message } = manifest.problem;
    const problem = `${path}: "${keys.join(".")}" ${message} A folder from \`agentrl data generate ${name}\` is required.`;
    throw new DataError("DATA_BAD_RECORD", problem);
  }
  const changedFiles: string[] = [];
  for (const [file, { sha256 }] of Object.entries(manifest.value.files)) {
    if ((await hashOf(join(folder, file))) !== sha256) changedFiles.push(file);
  }
  return { names: Object.keys(manifest.value.files), changedFiles };
}

/** Null for a missing file; the function that reads it reports it. */
async function hashOf(path: string): Promise<string | null> {
  try {
    return await sha256File(path);
  } catch {
    return null;
  }
}
