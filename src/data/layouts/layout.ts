import { DataError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import type { Part } from "../../base/registry.ts";
import { checkOptions, z } from "../../base/schema.ts";
import type { Passage, Task, TaskAnnotations } from "../../trajectory/task.ts";

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
interface WritingPlace {
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

/** A JSON object of a file, not looked into yet. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * Checks one record of a file against what its layout needs; further keys are ignored.
 * @param where place for messages: `file:line`.
 * @throws {DataError} DATA_BAD_RECORD with the key, what was found and what is allowed.
 */
export function parseRecord<S extends z.ZodType>(
  schema: S,
  record: JsonRecord,
  where: string,
): z.output<S> {
  const result = checkOptions(schema, record);
  if (result.problem === null) return result.value;
  const { path, message } = result.problem;
  throw badRecord(`${where}: "${path.join(".")}" ${message}`);
}

/** What every message about a record ends with; a list of all of them does without. */
export const RECORD_ADVICE =
  " Mend or drop the record; `agentrl data check` lists all such records.";

/** The error for a record, with the advice that fits every one. */
export function badRecord(message: string): DataError {
  return new DataError("DATA_BAD_RECORD", `${message}${RECORD_ADVICE}`);
}

/** Text with something in it. */
export const filledText = z
  .string()
  .refine((text) => text.trim() !== "", { error: "expected text that is not blank" });

/** An id: text, or a number that is taken as text. */
export const idText = z.preprocess(
  (id) => (typeof id === "number" ? String(id) : id),
  filledText,
) as z.ZodType<string>;

/** One accepted answer or a list of them. Blank ones, which occur in NQ, are dropped: an empty prediction would match. */
export const answerList = z
  .custom<string | string[]>((given) => filledAnswers(given).length > 0, {
    error: "expected an accepted answer, or a list of them, not all blank",
  })
  .transform(filledAnswers);

function filledAnswers(given: unknown): string[] {
  const list: unknown[] = Array.isArray(given) ? given : [given];
  if (!list.every((answer) => typeof answer === "string")) return [];
  return list.filter((answer) => answer.trim() !== "");
}

/** Whether BEIR's `metadata` of a query tells its answer, as in its HotpotQA: passages have none. */
export function holdsAnswer(metadata: unknown): boolean {
  if (typeof metadata !== "object" || metadata === null) return false;
  return "answer" in metadata || "answers" in metadata;
}

/** The distinct texts of a list, in order; blank ones are dropped. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text.trim() !== "");
}

/**
 * A passage of a question's context. Without an id of its own it gets one made from title and text, so that a passage has
 * one id in every question and in the corpus made of them.
 */
export function contextPassage(title: string, sentences: readonly string[], id?: string): Passage {
  const text = joinSentences(sentences);
  const own = id ?? `p-${sha256(`${title}\u0000${text}`).slice(0, 16)}`;
  if (sentences.length < 2) return { id: own, title, text };
  return { id: own, title, text, sentences: sentences.map((sentence) => sentence.trim()) };
}

/** HotpotQA writes the space between sentences at the start of the later one; where it is missing, it is put in. */
function joinSentences(sentences: readonly string[]): string {
  let joined = "";
  for (const sentence of sentences) {
    const spaced = joined === "" || /^\s/.test(sentence) || /\s$/.test(joined);
    joined += spaced ? sentence : ` ${sentence}`;
  }
  return joined;
}
