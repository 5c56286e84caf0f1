import { type PartWithOptions, definer, partSchema } from "../base/define-part.ts";
import { sha256 } from "../base/files.ts";
import { registryOf, requireReturned } from "../base/registry.ts";
import { z } from "../base/schema.ts";
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

/** A dataset in a recipe. */
export type DatasetSetting = { name: string } & Record<string, unknown>;

/** What a dataset may use when it is opened. */
export interface DatasetContext {
  /** Tasks of the recipe's environment; absent where it makes none. */
  own?: OwnTasks;
  /** Opens another dataset, for one that selects or changes its questions. */
  open: (setting: DatasetSetting) => Promise<Dataset>;
}

/** A dataset that a recipe can select. */
export interface DatasetPart extends PartWithOptions {
  /** Changes when a change of the code changes its questions: part of the fingerprint. */
  readonly version?: string | number;
  open(options: unknown, context: DatasetContext): Promise<Dataset>;
}

/** The setting of a dataset within another: an option of those that select or change its questions. */
export const datasetSchema: z.ZodType<DatasetSetting> = z.lazy(() =>
  partSchema(registryOf<DatasetPart>("dataset")),
);

/** The datasets that one consists of: those that it joins, or the one whose questions it selects or changes; else itself. */
export function datasetsWithin(setting: DatasetSetting): DatasetSetting[] {
  const { of } = setting;
  const inner = (Array.isArray(of) ? of : of === undefined ? [] : [of]) as DatasetSetting[];
  return inner.length === 0 ? [setting] : inner.flatMap(datasetsWithin);
}

/** What the file of a dataset opens. Its tasks may leave out `source`, which is then the dataset's name, and `annotations`. */
export interface OpenedDataset {
  /** The part's name when absent. */
  name?: string;
  /** What decides the questions and passages, for the fingerprint; the options when absent. */
  facts?: unknown;
  /** In place of one made from the name, the version and the facts. */
  fingerprint?: string;
  /** True when absent. */
  trainable?: boolean;
  /** @param limit that may be used to read less; further questions are left out. */
  stream(limit: number): Iterable<MadeTask> | AsyncIterable<MadeTask>;
  /** None when absent. */
  passages?: Dataset["passages"];
}

/** A question as a dataset makes it. */
export type MadeTask = Omit<Task, "source" | "annotations"> & Partial<Task>;

const define = definer<DatasetPart>()("dataset", {
  functions: {
    open: {
      at: 0,
      async: true,
      returned(opened: OpenedDataset & { fingerprint: string }, { what, name }): Dataset {
        requireReturned(what, opened, { stream: "function" });
        const stream = (limit = Infinity) =>
          completed(opened.stream(limit), { limit, name, what: `${what}: a task` });
        return {
          name: opened.name ?? name,
          fingerprint: opened.fingerprint,
          trainable: opened.trainable ?? true,
          stream,
          tasks: (limit) => collected(stream(limit)),
          passages: () => opened.passages?.() ?? [],
        };
      },
    },
  },
});

/**
 * Makes a dataset; `open` gives a stream of its questions.
 * @throws {ConfigError} PLUGIN_BAD_PART without open.
 */
export function defineDataset<S extends z.ZodObject>(
  part: Pick<DatasetPart, "name" | "summary" | "version"> & {
    options?: S;
    open(options: z.output<S>, context: DatasetContext): OpenedDataset | Promise<OpenedDataset>;
  },
): DatasetPart {
  const { name, version } = part;
  return define({
    ...part,
    async open(options: z.output<S>, context) {
      const opened = await part.open(options, context);
      const hash = sha256(JSON.stringify(opened.facts ?? options)).slice(0, 16);
      const made = [name, version, hash].filter((each) => each !== undefined).join("-");
      return { ...opened, fingerprint: opened.fingerprint ?? made };
    },
  });
}

async function* completed(
  tasks: Iterable<MadeTask> | AsyncIterable<MadeTask>,
  { limit, name, what }: { limit: number; name: string; what: string },
): AsyncGenerator<Task> {
  let left = limit;
  if (left <= 0) return;
  for await (const task of tasks) {
    requireReturned(what, task, { id: "text", question: "text", references: "list" });
    yield "source" in task && "annotations" in task
      ? (task as Task)
      : { source: name, annotations: {}, ...task };
    if (--left <= 0) return;
  }
}

/** All items of a stream. */
async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
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
