import type { PartWithOptions } from "../base/part-schema.ts";
import type { Passage, Task } from "../trajectory/task.ts";

/** Questions and the passages that answer them, opened. */
export interface Dataset {
  readonly name: string;
  /** Changes whenever a question or passage could change. */
  readonly fingerprint: string;
  /** False for a test set that must stay out of training. */
  readonly trainable: boolean;
  /**
   * The questions in order, one by one: memory does not grow with their size. Can be asked for again.
   * @param limit at most so many, from the start.
   * @throws as `streamTasks`, for datasets of files.
   */
  stream(limit?: number): AsyncIterable<Task>;
  /** As `stream`, all at once. */
  tasks(limit?: number): Promise<Task[]>;
  /** The corpus, streamed; can be asked for again. */
  passages(): Iterable<Passage> | AsyncIterable<Passage>;
}

/** Tasks that a recipe's environment makes itself, without an end. */
export type OwnTasks = (draw: { split: string; seed: number }) => Iterable<Task>;

/** A dataset that a recipe can name. */
export interface DatasetPart extends PartWithOptions {
  /**
   * @param options checked by the part's own schema; a recipe's are already.
   * @param own tasks of the recipe's environment; absent where it makes none.
   */
  open(options: unknown, own?: OwnTasks): Promise<Dataset>;
}

/** Everything that a stream gives. */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Both ways to ask for questions. */
export function streamed(
  stream: (limit: number) => AsyncIterable<Task>,
): Pick<Dataset, "stream" | "tasks"> {
  return {
    stream: (limit = Infinity) => stream(limit),
    tasks: (limit = Infinity) => collected(stream(limit)),
  };
}
