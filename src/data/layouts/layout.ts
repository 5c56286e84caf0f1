import type { Part } from "../../base/registry.ts";
import type { Passage, Task, TaskAnnotations } from "../../trajectory/task.ts";
import type { JsonRecord } from "./record.ts";

/** A question as its record has it; the reader of the file gives it an id and a source where it has none. */
export interface TaskRead extends Omit<Task, "id" | "source"> {
  id: string | undefined;
  source?: string | undefined;
}

/** A record as the dataset publishes it, and the task that it is: for readers, and for the tests that every layout must pass. */
interface TaskExample {
  record: JsonRecord;
  /** Id and source are absent where the record has none. */
  task: Partial<Task> & Pick<Task, "references">;
  /** Changes of the record after which it has no answer. */
  unanswered: JsonRecord;
}

/** A way to write questions, one record each. */
export interface TaskLayout extends Part {
  readonly example: TaskExample;
  /** Whether a file whose first record is this one has the layout. */
  fits(record: JsonRecord): boolean;
  /**
   * @param where place for messages: `file:line`.
   * @throws {DataError} DATA_BAD_RECORD
   */
  read(record: JsonRecord, where: string): TaskRead;
  /** How a task becomes a record; absent where the layout is only read. */
  readonly write?: TaskWriter;
}

/** What a layout can hold of a task. Id, question and references always. */
export interface TaskWriter {
  /** Annotations that come back when what was written is read. */
  readonly keeps: readonly (keyof TaskAnnotations)[];
  /** Whether the name of the dataset comes back. */
  readonly keepsSource: boolean;
  record(task: Task, place: WritingPlace): object;
}

/** Where a task stands in what is being written. */
export interface WritingPlace {
  /** From 0. */
  index: number;
  /** Name of the split: "train", "dev", … */
  split: string;
  /** What the policy is asked; rows for trainers hold it. */
  prompt: string;
}

/** A way to write passages, one record each. */
export interface CorpusLayout extends Part {
  fits(record: JsonRecord): boolean;
  /** @throws {DataError} DATA_BAD_RECORD */
  read(record: JsonRecord, where: string): Passage;
  readonly write?: (passage: Passage) => object;
}
