import { Readable } from "node:stream";
import { sha256 } from "../base/files.ts";
import { requireDescribed } from "../base/part-members.ts";
import type { PartWithOptions } from "../base/part-schema.ts";
import { parseOptions, type z } from "../base/schema.ts";
import type { Split } from "../base/split.ts";
import type { Passage, Task } from "../trajectory/task.ts";

/** An open dataset: questions, and the passages with their answers. */
export interface Dataset {
  readonly name: string;
  /** Changes whenever a question or passage could change. */
  readonly fingerprint: string;
  /** False for a test set that must stay out of training. */
  readonly trainable: boolean;
  /**
   * The questions in order, streamed in constant memory. Can be called again.
   * @param limit maximum number, from the start.
   * @throws as `streamTasks`, for datasets of files.
   */
  stream(limit?: number): AsyncIterable<Task>;
  /** `stream`, as an array. */
  tasks(limit?: number): Promise<Task[]>;
  /** The corpus, streamed; can be called again. */
  passages(): Iterable<Passage> | AsyncIterable<Passage>;
}

/** Endless tasks that a recipe's environment generates. */
export type OwnTasks = (draw: { split: Split; seed: number }) => Iterable<Task>;

/** A dataset that a recipe can select. */
export interface DatasetPart extends PartWithOptions {
  /**
   * @param options from a recipe they are already checked; the part's schema checks them again.
   * @param own tasks of the recipe's environment, if it generates any.
   */
  open(options: unknown, own?: OwnTasks): Promise<Dataset>;
}

/**
 * Makes a dataset; `open` gives a stream of its questions.
 * @throws {ConfigError} PLUGIN_BAD_PART without open.
 */
export function defineDataset<S extends z.ZodObject>(
  part: Pick<DatasetPart, "name" | "summary"> & {
    /** Changes when a change of the code changes its questions: part of the fingerprint. */
    version?: string | number;
    options: S;
    open(options: z.output<S>): {
      stream(limit: number): Iterable<Task>;
      passages?: Dataset["passages"];
    };
  },
): DatasetPart {
  const { name, summary, version, options } = part;
  requireDescribed("dataset", part, ["open"], { options: "schema" });
  return {
    part: "dataset",
    name,
    summary,
    options,
    open(given) {
      const settings = parseOptions(options, given, name);
      const opened = part.open(settings);
      const hash = sha256(JSON.stringify(settings)).slice(0, 16);
      return Promise.resolve({
        name,
        fingerprint: [name, version, hash].filter((each) => each !== undefined).join("-"),
        trainable: true,
        ...streamed((limit) => Readable.from(opened.stream(limit))),
        passages: () => opened.passages?.() ?? [],
      });
    },
  };
}

/** All items of a stream. */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** `stream` and `tasks` from one function. */
export function streamed(
  stream: (limit: number) => AsyncIterable<Task>,
): Pick<Dataset, "stream" | "tasks"> {
  return {
    stream: (limit = Infinity) => stream(limit),
    tasks: (limit = Infinity) => collected(stream(limit)),
  };
}
