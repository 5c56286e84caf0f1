import { definedValues } from "../base/defined-values.ts";
import type { Registry } from "../base/registry.ts";
import { checkOptions, quote, z } from "../base/schema.ts";
import type { Passage } from "../trajectory/task.ts";
import { acceptedAnswers } from "./accepted-answers.ts";
import { AnswerDoubts } from "./answer-doubts.ts";
import { type Fields, fieldFor, type FoundFields, requiredField, valueAt } from "./fields.ts";
import { corpusLayouts, taskLayouts } from "./layouts/index.ts";
import {
  answerList,
  badRecord,
  type CorpusLayout,
  filledText,
  idText,
  type JsonRecord,
  type TaskLayout,
  type TaskRead,
} from "./layouts/layout.ts";
import { type PlacedRecord, readRecords } from "./records.ts";

/** A passage from one record; the file's reader adds a missing id. */
type PassageRead = Omit<Passage, "id"> & { id: string | undefined };

interface Understood {
  /** A known layout, or "own fields". */
  readonly layout: string;
  /** The fields of a file in no known layout; null for a known layout. */
  readonly fields: FoundFields | null;
}

export interface QuestionFile extends Understood {
  readonly kind: "questions";
  /** About the accepted answers that were read. */
  readonly doubts: AnswerDoubts;
  /** @throws {DataError} DATA_BAD_RECORD */
  read(record: JsonRecord, where: string): TaskRead;
  /** `read`; null for a record that its dataset published without an answer. */
  readAnswered(record: JsonRecord, where: string): TaskRead | null;
}

export interface CorpusFile extends Understood {
  readonly kind: "corpus";
  /** @throws {DataError} DATA_BAD_RECORD */
  read(record: JsonRecord, where: string): PassageRead;
}

/** The known layout that fits a file's first record, those of plug-ins first; undefined when there is none. */
function fitting<L extends TaskLayout | CorpusLayout>(
  { added, parts }: Registry<L>,
  record: JsonRecord,
): L | undefined {
  return [...added, ...parts].find((layout) => layout.fits(record));
}

function taskLayoutOf(record: JsonRecord): TaskLayout | undefined {
  return fitting(taskLayouts, record);
}

export function corpusLayoutOf(record: JsonRecord): CorpusLayout | undefined {
  return fitting(corpusLayouts, record);
}

/**
 * How a question file is read, by its first record: by the given fields, else in the known layout that fits, else by the
 * names of its fields.
 *
 * @throws {DataError} DATA_FIELD_UNKNOWN, DATA_FIELDS_UNCLEAR, DATA_LAYOUT_UNKNOWN
 */
export function questionFile(first: PlacedRecord, fields: Fields = {}): QuestionFile {
  const layout = hasAny(fields, "question", "answer", "id")
    ? undefined
    : taskLayoutOf(first.record);
  const { read, ...understood } =
    layout === undefined
      ? ownQuestions(first, fields)
      : { layout: layout.name, fields: null, read: layout.read.bind(layout) };
  const doubts = new AnswerDoubts();
  const whole = layout?.wholeAnswers === true ? "none" : undefined;
  const separator = fields.answerSeparator ?? whole;
  const accepted = (texts: readonly string[], where: string): string[] => {
    const found = acceptedAnswers(texts, separator);
    const answers = "problem" in found ? [] : found.answers.filter((text) => text.trim() !== "");
    if ("problem" in found || answers.length === 0) {
      const problem = "problem" in found ? found.problem : `${quote(texts)} has no answer in it`;
      const advice = "--answer-separator none takes such texts as they are";
      throw badRecord(`${where}: the accepted answer ${problem}; ${advice}.`);
    }
    if (separator === undefined) doubts.add(texts, found, where);
    return answers;
  };
  const readAnswered = (record: JsonRecord, where: string): TaskRead | null => {
    const task = read(record, where);
    if (task.references.length === 0) return null;
    return { ...task, references: accepted(task.references, where) };
  };
  return {
    kind: "questions",
    ...understood,
    doubts,
    readAnswered,
    read: (record, where) => {
      const task = readAnswered(record, where);
      if (task !== null) return task;
      throw badRecord(`${where}: has no accepted answer; at least one is required.`);
    },
  };
}

function corpusFile(first: PlacedRecord, fields: Fields = {}): CorpusFile {
  const layout = hasAny(fields, "text", "title", "id") ? undefined : corpusLayoutOf(first.record);
  if (layout === undefined) return ownPassages(first, fields);
  return {
    kind: "corpus",
    layout: layout.name,
    fields: null,
    read: (record, where) => layout.read(record, where),
  };
}

/**
 * `questionFile` or `corpusFile`, whichever the given fields or the first record decide.
 * @param expected the kind of a file that could be neither, for the message.
 * @throws {DataError} likewise.
 */
export function dataFile(
  first: PlacedRecord,
  fields: Fields = {},
  expected: "questions" | "corpus" = "questions",
): QuestionFile | CorpusFile {
  if (hasAny(fields, "question", "answer")) return questionFile(first, fields);
  if (hasAny(fields, "text", "title")) return corpusFile(first, fields);
  if (corpusLayoutOf(first.record) !== undefined) return corpusFile(first, fields);
  const isQuestions =
    taskLayoutOf(first.record) !== undefined || fieldFor("question", first, fields) !== undefined;
  if (isQuestions) return questionFile(first, fields);
  const isCorpus = expected === "corpus" || fieldFor("text", first, fields) !== undefined;
  return isCorpus ? corpusFile(first, fields) : questionFile(first, fields);
}

/** `dataFile` of a path; null for an empty file. @throws {DataError} as `readRecords` and `dataFile`. */
export async function openDataFile(
  path: string,
  fields: Fields = {},
): Promise<QuestionFile | CorpusFile | null> {
  for await (const first of readRecords(path)) return dataFile(first, fields);
  return null;
}

function hasAny(fields: Fields, ...roles: (keyof Fields)[]): boolean {
  return roles.some((role) => fields[role] !== undefined);
}

function ownQuestions(
  first: PlacedRecord,
  given: Fields,
): Omit<QuestionFile, "kind" | "doubts" | "readAnswered"> {
  const question = requiredField("question", first, given);
  const answer = requiredField("answer", first, given);
  const id = fieldFor("id", first, given);
  return {
    layout: "own fields",
    fields: { question, answer, ...named({ id }) },
    read: (record, where) => ({
      id: id === undefined ? undefined : cell(idText, record, id, where),
      question: cell(filledText, record, question, where),
      references: cell(answerList, record, answer, where),
      annotations: {},
    }),
  };
}

const titleText = z.string().nullish();

function ownPassages(first: PlacedRecord, given: Fields): CorpusFile {
  const text = requiredField("text", first, given);
  const title = fieldFor("title", first, given);
  const id = fieldFor("id", first, given);
  return {
    kind: "corpus",
    layout: "own fields",
    fields: { text, ...named({ title, id }) },
    read: (record, where) => ({
      id: id === undefined ? undefined : cell(idText, record, id, where),
      title: title === undefined ? "" : (cell(titleText, record, title, where) ?? ""),
      text: cell(filledText, record, text, where),
    }),
  };
}

function named(fields: { [Role in keyof FoundFields]: string | undefined }): FoundFields {
  return definedValues(fields);
}

function cell<S extends z.ZodType>(
  schema: S,
  record: JsonRecord,
  field: string,
  where: string,
): z.output<S> {
  const result = checkOptions(schema, valueAt(record, field));
  if (result.problem === null) return result.value;
  throw badRecord(
    `${where}: "${[field, ...result.problem.path].join(".")}" ${result.problem.message}`,
  );
}
