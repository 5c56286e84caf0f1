import { existsSync } from "node:fs";
import { ConfigError } from "../base/errors.ts";
import { sha256, sha256File } from "../base/files.ts";
import { suggest } from "../base/nearest.ts";
import type { PartWithOptions } from "../base/part-schema.ts";
import { registry } from "../base/registry.ts";
import { parseOptions, z } from "../base/schema.ts";
import type { Passage, Task } from "../trajectory/task.ts";
import { readPassages } from "./passages.ts";
import { loadTasks } from "./tasks.ts";
import {
  mixSchema,
  TINY_WORLD_VERSION,
  tinyWorld,
  tinyWorldSchema,
} from "./tinyworld/tiny-world.ts";

/** Questions and the passages that answer them, opened. */
export interface Dataset {
  readonly name: string;
  /** Changes whenever a question or passage could change. */
  readonly fingerprint: string;
  /**
   * @param limit at most so many, from the start.
   * @throws as `loadTasks`, for datasets of files.
   */
  tasks(limit?: number): Promise<Task[]>;
  /** The corpus, streamed; can be asked for again. */
  passages(): Iterable<Passage> | AsyncIterable<Passage>;
}

/** A dataset that a recipe can name. */
export interface DatasetPart extends PartWithOptions {
  /** @param options checked by the part's own schema; a recipe's are already. */
  open(options: unknown): Promise<Dataset>;
}

const tinyWorldOptions = tinyWorldSchema.extend({
  /** Number of questions. */
  questions: z.int().min(1).default(500),
  mix: mixSchema.prefault({}),
  /** Passages in each question's context; 0: none. */
  distractors: z.int().min(0).max(100).default(0),
});

const tinyWorldDataset: DatasetPart = {
  name: "tinyworld",
  summary: "A fictional encyclopedia, made in memory: no download, no fact in any model's memory.",
  options: tinyWorldOptions,
  open: (options) => {
    const settings = parseOptions(tinyWorldOptions, options, "tinyworld");
    const { seed, split, people, questions, mix, distractors } = settings;
    const world = tinyWorld({ seed, split, people });
    return Promise.resolve({
      name: "tinyworld",
      fingerprint: `tinyworld-${TINY_WORLD_VERSION}-${sha256(JSON.stringify(settings)).slice(0, 16)}`,
      tasks: (limit = questions) =>
        Promise.resolve([...world.questions(Math.min(limit, questions), { mix, distractors })]),
      passages: () => world.passages(),
    });
  },
};

const filesOptions = z.strictObject({
  /** Question file in any known layout. */
  tasks: z.string(),
  /** Corpus file; without it the questions' own contexts are the corpus. */
  corpus: z.string().optional(),
});

const filesDataset: DatasetPart = {
  name: "files",
  summary: "A question file, and a corpus file or the questions' own contexts.",
  options: filesOptions,
  open: async (options) => {
    const { tasks, corpus } = parseOptions(filesOptions, options, "files");
    const hashes = [await sha256File(tasks), corpus === undefined ? "" : await sha256File(corpus)];
    return {
      name: tasks,
      fingerprint: `files-${sha256(hashes.join()).slice(0, 16)}`,
      tasks: (limit) => loadTasks(tasks, limit === undefined ? {} : { limit }),
      passages: () => readPassages(corpus ?? tasks),
    };
  },
};

/** All datasets. */
export const datasets = registry<DatasetPart>("dataset", [tinyWorldDataset, filesDataset]);

/**
 * Opens what a recipe or flag names: a registered dataset by name (`tinyworld`) or with options
 * (`{ name: tinyworld, split: test }`), or a question file by path.
 *
 * @param where the recipe key or flag, for messages.
 * @throws {ConfigError} PART_UNKNOWN when it is neither, with the nearest name; RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY.
 * @throws {DataError} FILE_MISSING
 */
export async function openDataset(
  given: string | ({ name: string } & Record<string, unknown>),
  where: string,
): Promise<Dataset> {
  if (typeof given !== "string") {
    const { name, ...options } = given;
    const part = datasets.get(name, `${where}.name`);
    return part.open(parseOptions(part.options, options, where));
  }
  const part = datasets.parts.find(({ name }) => name === given);
  if (part !== undefined) return part.open(parseOptions(part.options, {}, where));
  if (existsSync(given)) return filesDataset.open({ tasks: given });
  throw new ConfigError(
    "PART_UNKNOWN",
    `${where} is "${given}"; there is no such file and no such dataset. ${suggest(given, datasets.names)}`,
  );
}
