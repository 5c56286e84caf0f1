import { DataError } from "../base/errors.ts";
import { z } from "../base/schema.ts";
import type { JsonRecord } from "./layouts/layout.ts";
import type { PlacedRecord } from "./records.ts";

/**
 * The user's names for the fields of a file in no known layout; a field within an object is a dotted path (`answers.text`). In any layout, what
 * separates accepted answers within one text; "none": each text is one answer.
 */
export const fieldsSchema = z.strictObject({
  question: z.string().min(1).optional(),
  answer: z.string().min(1).optional(),
  id: z.string().min(1).optional(),
  text: z.string().min(1).optional(),
  title: z.string().min(1).optional(),
  answerSeparator: z.string().min(1).optional(),
});

export type Fields = Readonly<z.output<typeof fieldsSchema>>;

/** What a field of a question or passage contains. */
export type FieldRole = Exclude<keyof Fields, "answerSeparator">;

/** The field of a file for each role; absent: the file has none. */
export type FoundFields = Partial<Record<FieldRole, string>>;

interface RoleFacts {
  /** For messages: what the field contains. */
  readonly content: string;
  /** Names that a file may use, compared without case, spaces and hyphens. */
  readonly names: readonly string[];
  /** Whether two candidates are an error. Otherwise the first name of the list wins, because a wrong choice changes no score. */
  readonly isStrict: boolean;
}

const ROLES: Readonly<Record<FieldRole, RoleFacts>> = {
  question: {
    content: "the question",
    names: "question question_text query prompt frage pregunta domanda vraag input q".split(" "),
    isStrict: true,
  },
  answer: {
    content: "the accepted answer",
    names: [
      ..."answer answers golden_answer golden_answers gold_answer gold_answers gold golds".split(
        " ",
      ),
      ..."reference references reference_answer reference_answers ground_truth target targets".split(
        " ",
      ),
      ..."expected expected_answer antwort antworten respuesta risposta antwoord label a".split(
        " ",
      ),
    ],
    isStrict: true,
  },
  id: {
    content: "the id",
    names: "id _id qid question_id doc_id docid passage_id pid uid uuid".split(" "),
    isStrict: false,
  },
  text: {
    content: "the text of the passage",
    names: "text contents content passage passage_text paragraph body document chunk inhalt".split(
      " ",
    ),
    isStrict: true,
  },
  title: {
    content: "the title",
    names: "title titel heading headline name".split(" "),
    isStrict: false,
  },
};

/**
 * The field with a role in a file's first record: the given one, else the one whose name says so.
 *
 * @returns undefined when no name fits.
 * @throws {DataError} DATA_FIELD_UNKNOWN when the record lacks the given field; DATA_FIELDS_UNCLEAR when several names fit.
 */
export function fieldFor(
  role: FieldRole,
  { record, where }: PlacedRecord,
  given: Fields,
): string | undefined {
  const { content, isStrict } = ROLES[role];
  const named = given[role];
  const keys = Object.keys(record);
  if (named !== undefined) {
    if (valueAt(record, named) !== undefined) return named;
    throw new DataError(
      "DATA_FIELD_UNKNOWN",
      `${where}: has no field "${named}" for ${content}; its fields are ${keys.join(", ")}. ${advice(role)}`,
    );
  }
  const fitting = fieldsWith(role, record);
  if (!isStrict || fitting.length < 2) return fitting[0];
  throw new DataError(
    "DATA_FIELDS_UNCLEAR",
    `${where}: ${content} could be in ${fitting.map((field) => `"${field}"`).join(" or ")}. ${advice(role)}`,
  );
}

/** The fields of a record whose names say that they have a role, best first. */
export function fieldsWith(role: FieldRole, record: JsonRecord): string[] {
  const fields = fieldsNamed(ROLES[role].names, record);
  if (role !== "answer") return fields;
  // Rows of the hub: answers: {text: […], answer_start: […]}.
  const withTexts = (field: string): boolean => valueAt(record, `${field}.text`) !== undefined;
  return fields.map((field) => (withTexts(field) ? `${field}.text` : field));
}

/** The fields of a record with one of the names, compared without case, spaces and hyphens. */
export function fieldsNamed(names: readonly string[], record: JsonRecord): string[] {
  const keys = Object.keys(record);
  return names.flatMap((name) => keys.filter((key) => plainName(key) === name));
}

/** `fieldFor` for a field that the file must have. @throws {DataError} likewise; DATA_LAYOUT_UNKNOWN when no name fits. */
export function requiredField(role: FieldRole, placed: PlacedRecord, given: Fields): string {
  const found = fieldFor(role, placed, given);
  if (found !== undefined) return found;
  const { record, where } = placed;
  throw new DataError(
    "DATA_LAYOUT_UNKNOWN",
    `${where}: the fields are ${Object.keys(record).join(", ")}; none of these names says that it has ${ROLES[role].content}. ${advice(role)} \`agentrl data list\` shows the known layouts.`,
  );
}

function advice(role: FieldRole): string {
  return `Name the right field with --${role}-field (in a recipe: fields.${role}).`;
}

function plainName(key: string): string {
  return key
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
}

/** The value of a field or of a dotted path; undefined when the record lacks it. */
export function valueAt(record: JsonRecord, field: string): unknown {
  if (Object.hasOwn(record, field)) return record[field];
  let at: unknown = record;
  for (const key of field.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonRecord)[key];
  }
  return at;
}

/** The flags that give these fields. */
export function fieldFlags(fields: Fields): string[] {
  return (Object.keys(fields) as (keyof Fields)[]).map((key) =>
    key === "answerSeparator" ? "--answer-separator" : `--${key}-field`,
  );
}

/** @example fieldsText({ question: "frage", answer: "gold" }) // "question ← frage, answer ← gold, id ← row number" */
export function fieldsText(found: FoundFields): string {
  const roles = (Object.keys(ROLES) as FieldRole[]).filter((role) => found[role] !== undefined);
  const parts = roles.map((role) => `${role} ← ${found[role] ?? ""}`);
  return [...parts, ...(found.id === undefined ? ["id ← row number"] : [])].join(", ");
}
