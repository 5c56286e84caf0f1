import type { Part } from "../../base/registry.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import type { JsonRecord } from "./record.ts";

/** A question as its record has it; the reader of the file gives it an id and a source where it has none. */
export interface TaskRead extends Omit<Task, "id" | "source"> {
  id: string | undefined;
  source?: string | undefined;
}

/** A way to write questions, one record each. */
export interface TaskLayout extends Part {
  /** Whether a file whose first record is this one has the layout. */
  fits(record: JsonRecord): boolean;
  /**
   * @param where place for messages: `file:line`.
   * @throws {DataError} DATA_BAD_RECORD
   */
  read(record: JsonRecord, where: string): TaskRead;
  /** The task as a record; absent where the layout is only read. */
  readonly write?: (task: Task) => object;
}

/** A way to write passages, one record each. */
export interface CorpusLayout extends Part {
  fits(record: JsonRecord): boolean;
  /** @throws {DataError} DATA_BAD_RECORD */
  read(record: JsonRecord, where: string): Passage;
  readonly write?: (passage: Passage) => object;
}
