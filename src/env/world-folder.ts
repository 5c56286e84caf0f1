import { join } from "node:path";
import { DataError } from "../base/errors.ts";
import { readJson, sha256File, writeJson } from "../base/files.ts";
import { checkOptions, parseOptions, z } from "../base/schema.ts";
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
   * Writes the files, the manifest last. Equal settings give equal bytes.
   *
   * @param out folder, created if missing.
   * @param options.onProgress receives the number of records so far, at intervals.
   * @throws {ConfigError} RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY; what the world throws.
   * @throws {ExternalError} FILE_WRITE_FAILED; files written earlier stay, without a manifest.
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
  /** Such as passages and questions. */
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
  name: string;
  version: number;
  /** Options of its dataset, which parse the settings of each split. */
  dataset: z.ZodObject;
  options?: z.ZodObject;
  layout?: TaskLayout;
  tasks: (settings: Record<string, unknown>) => Iterable<Task>;
  passages?: (settings: Record<string, unknown>) => Iterable<Passage>;
  check?: WorldCheck;
}

/** The folder of a world. */
export function worldFolder(world: Written): WorldFolder {
  const { name, version, dataset, passages, layout = agentrlTasks, check } = world;
  const { split = z.string(), ...shape } = dataset.shape as Record<string, z.ZodType<string>>;
  const options = world.options ?? z.strictObject({ ...shape, splits: splitsSchema(split) });
  const parsed = (given: unknown) =>
    parseOptions(options, given, name) as { splits: string[] } & Record<string, unknown>;
  return {
    options,
    files: (given) => [
      ...parsed(given).splits.map((each) => `${each}.jsonl`),
      ...(passages === undefined ? [] : [CORPUS]),
      MANIFEST,
    ],
    async generate(out, given, { signal, onProgress = () => undefined } = {}) {
      const settings = parsed(given);
      const { splits, ...shared } = settings;
      const places = splits.map((each) => parseOptions(dataset, { ...shared, split: each }, name));
      const files: Record<string, WrittenFile> = {};
      const write = async (file: string, records: Iterable<object>): Promise<void> => {
        files[file] = await writeJsonl(join(out, file), records, signal);
      };
      let made = 0;
      const counted = (): void => {
        made += 1;
        if (made % 1000 === 0) onProgress(made);
      };
      // Questions first: they are few, and an impossible mix fails before the large corpus is written.
      for (const place of places) {
        const records = questionRecords(world.tasks(place), { place, layout, counted });
        await write(`${String(place.split)}.jsonl`, records);
      }
      if (passages !== undefined) {
        await write(CORPUS, passageRecords(places.map(passages), counted));
      }
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

const CORPUS = "corpus.jsonl";
const MANIFEST = "manifest.json";

function* questionRecords(
  tasks: Iterable<Task>,
  {
    place: { split, questions },
    layout,
    counted,
  }: { place: Record<string, unknown>; layout: TaskLayout; counted: () => void },
): Generator<object> {
  let index = 0;
  for (const task of first(tasks, Number(questions))) {
    const place = { index, split: String(split), prompt: task.question };
    yield layout.write?.record(task, place) ?? {};
    index += 1;
    counted();
  }
}

function* passageRecords(
  ofSplits: readonly Iterable<Passage>[],
  counted: () => void,
): Generator<object> {
  for (const passages of ofSplits) {
    for (const passage of passages) {
      yield agentrlCorpus.write?.(passage) ?? {};
      counted();
    }
  }
}

/** The first items. */
export function* first<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  if (left <= 0) return;
  for (const item of items) {
    yield item;
    if (--left <= 0) return;
  }
}

/** The name of the world that a folder's manifest names; null where there is none. */
export async function worldOfFolder(folder: string): Promise<string | null> {
  const ofWorld = z.looseObject({ format: z.string().startsWith(FORMAT) });
  const { problem, value } = {
    value: null,
    ...checkOptions(ofWorld, await readJson(join(folder, MANIFEST))),
  };
  return problem === null && value !== null ? value.format.slice(FORMAT.length) : null;
}

const FORMAT = "agentrl-";

function formatOf(name: string): string {
  return `${FORMAT}${name}`;
}

const filesSchema = z.record(z.string(), z.object({ records: z.int(), sha256: z.string() }));

/** The files that the manifest lists, and those that differ from it or are missing. */
async function compareWithManifest(
  folder: string,
  name: string,
): Promise<{ names: string[]; changedFiles: string[] }> {
  const path = join(folder, MANIFEST);
  const schema = z.object({ format: z.literal(formatOf(name)), files: filesSchema });
  const manifest = checkOptions(schema, await readJson(path));
  if (manifest.problem !== null) {
    const { path: keys, message } = manifest.problem;
    throw new DataError(
      "DATA_BAD_RECORD",
      `${path}: "${keys.join(".")}" ${message} A folder from \`agentrl data generate ${name}\` is required.`,
    );
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
