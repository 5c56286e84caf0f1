import { definedValues } from "../../base/defined-values.ts";
import { definer } from "../../base/define-part.ts";
import { DataError } from "../../base/errors.ts";
import { numberId, plainNumber } from "../../base/exact-json.ts";
import { sha256 } from "../../base/files.ts";
import { type Part, requireReturned } from "../../base/registry.ts";
import { checkOptions, z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { answerText } from "../accepted-answers.ts";

/** A question from one record; the file's reader adds a missing id and source. */
export interface TaskRead extends Omit<Task, "id" | "source"> {
  id: string | undefined;
  source?: string | undefined;
}

/** A record as published and its task: documentation, and the case of the test that every layout must pass. */
interface TaskExample {
  record: JsonRecord;
  /** Without id and source if the record has none. */
  task: Partial<Task> & Pick<Task, "references">;
  /** Changes that remove the record's answer. */
  unanswered: JsonRecord;
}

/** A format of questions, one record each. */
export interface TaskLayout extends Part {
  readonly holds: "questions";
  readonly example?: TaskExample;
  /** Every answer is one text, as a formula is: "[2, 5]" is an interval and no list of answers. */
  readonly wholeAnswers?: true;
  /** Whether a file with this first record has the layout. */
  fits(record: JsonRecord): boolean;
  /**
   * @param where place for messages: `file:line`.
   * @returns without references if the dataset published the record without an answer.
   * @throws {DataError} DATA_BAD_RECORD
   */
  read(record: JsonRecord, where: string): TaskRead;
  /** Converts a task to a record; absent for read-only layouts. */
  readonly write?: TaskWriter;
}

/** Writes tasks in a layout. Id, question and references are always preserved. */
export interface TaskWriter {
  /** Annotations that survive writing and reading. */
  readonly keeps: "all" | readonly string[];
  /** Whether the dataset's name survives writing and reading. */
  readonly keepsSource: boolean;
  record(task: Task, place: WritingPlace): object;
}

interface WritingPlace {
  /** From 0. */
  index: number;
  /** Name of the split: "train", "dev", … */
  split: string;
  /** The policy's prompt, which rows for trainers contain. */
  prompt: string;
}

/** A format of passages, one record each. */
export interface CorpusLayout extends Part {
  readonly holds: "passages";
  fits(record: JsonRecord): boolean;
  /** @throws {DataError} DATA_BAD_RECORD */
  read(record: JsonRecord, where: string): Passage;
  readonly write?: (passage: Passage) => object;
}

type QuestionRead = Pick<Task, "question" | "references"> & Partial<TaskRead>;

const defineTaskLayout = definer<TaskLayout>()("question layout", {
  members: { fits: "function" },
  functions: {
    read: {
      returned(task: QuestionRead, { what }) {
        requireReturned(what, task, { question: "text", references: "list" });
        return { id: undefined, ...task, annotations: definedValues(task.annotations ?? {}) };
      },
    },
  },
});

const defineCorpusLayout = definer<CorpusLayout>()("corpus layout", {
  members: { fits: "function" },
  functions: {
    read: {
      returned(passage: Passage, { what }) {
        requireReturned(what, passage, { id: "text", title: "text", text: "text" });
        return passage;
      },
    },
  },
});

/**
 * Makes a layout of question files or of corpora. One of a plug-in is tried before those of the package.
 * @throws {ConfigError} PLUGIN_BAD_PART without fits or read.
 */
export function defineLayout(described: Parameters<typeof defineTaskLayout>[0]): TaskLayout;
export function defineLayout(described: Parameters<typeof defineCorpusLayout>[0]): CorpusLayout;
export function defineLayout(
  described: Parameters<typeof defineTaskLayout>[0] | Parameters<typeof defineCorpusLayout>[0],
): TaskLayout | CorpusLayout {
  return described.holds === "questions"
    ? defineTaskLayout(described)
    : defineCorpusLayout(described);
}

/** A JSON object of a file, not checked yet. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * Checks a record against the schema of its layout; ignores further keys.
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

/** The end of every message about a record, except in a list of all of them. */
export const RECORD_ADVICE =
  " Correct or remove the record; `agentrl data check` lists all such records.";

/** DATA_BAD_RECORD, with the advice. */
export function badRecord(message: string): DataError {
  return new DataError("DATA_BAD_RECORD", `${message}${RECORD_ADVICE}`);
}

/** Text that is not blank. */
export const filledText = z
  .string()
  .refine((text) => text.trim() !== "", { error: "expected non-blank text" });

/** An id: text, or a number, which becomes text. */
export const idText = z.preprocess((id) => numberId(id) ?? id, filledText) as z.ZodType<string>;

/** A whole number from 0. */
export const count = z.preprocess(plainNumber, z.int().min(0)) as z.ZodType<number>;

/**
 * One accepted answer or a list of them; see `answerText`. Drops blank answers, which occur in NQ: an empty prediction would match.
 */
export const answerList = z
  .custom<unknown>((given) => filledAnswers(given).length > 0, {
    error:
      "expected an accepted answer (text, a number, true or false) or a list of them, with at least one non-blank",
  })
  .transform(filledAnswers);

/** `answerList`; empty for a blank text, with which some datasets publish a record without an answer. */
export const publishedAnswer = z
  .custom<unknown>((given) => typeof given === "string" || filledAnswers(given).length > 0, {
    error: "expected an accepted answer (text, a number, true or false) or a list of them",
  })
  .transform(filledAnswers);

function filledAnswers(given: unknown): string[] {
  const texts = (Array.isArray(given) ? given : [given]).map(answerText);
  const answers = texts.filter((text) => text !== null);
  return answers.length < texts.length ? [] : answers.filter((text) => text.trim() !== "");
}

/** Whether a BEIR record's `metadata` has an answer, as in BEIR's HotpotQA; passages have none. */
export function holdsAnswer(metadata: unknown): boolean {
  if (typeof metadata !== "object" || metadata === null) return false;
  return "answer" in metadata || "answers" in metadata;
}

/** The distinct non-blank texts of a list, in order. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text.trim() !== "");
}

/**
 * A passage of a question's context. A missing id is derived from title and text, so that a passage has
 * the same id in every question and in the corpus of all contexts.
 */
export function contextPassage(title: string, sentences: readonly string[], id?: string): Passage {
  const text = joinSentences(sentences);
  const own = id ?? `p-${sha256(`${title}\u0000${text}`).slice(0, 16)}`;
  if (sentences.length < 2) return { id: own, title, text };
  return { id: own, title, text, sentences: sentences.map((sentence) => sentence.trim()) };
}

/** HotpotQA puts the space between sentences at the start of the later one; a missing space is added. */
function joinSentences(sentences: readonly string[]): string {
  let joined = "";
  for (const sentence of sentences) {
    const spaced = joined === "" || /^\s/.test(sentence) || /\s$/.test(joined);
    joined += spaced ? sentence : ` ${sentence}`;
  }
  return joined;
}
