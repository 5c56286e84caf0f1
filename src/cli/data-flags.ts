import type { Command } from "commander";
import { ConfigError } from "../base/errors.ts";
import { type DatasetSetting, datasetNamed } from "../data/datasets.ts";
import { type FieldRole, type Fields, fieldsText } from "../data/fields.ts";
import { openDataFile } from "../data/file-layout.ts";
import { readPassages } from "../data/passages.ts";
import type { Passage } from "../trajectory/task.ts";
import type { CliContext } from "./command.ts";

/** The user's names for the fields of files in no known layout. */
export interface FieldFlags {
  questionField?: string | undefined;
  answerField?: string | undefined;
  idField?: string | undefined;
  textField?: string | undefined;
  titleField?: string | undefined;
}

const CONTENT: Readonly<Record<FieldRole, string>> = {
  question: "the question",
  answer: "the accepted answer, or the list of them",
  id: "the id",
  text: "the text of a passage",
  title: "the title of a passage",
};

/** Fields of question files. */
export const QUESTION_ROLES: readonly FieldRole[] = ["question", "answer", "id"];

/** Fields of corpora. */
export const PASSAGE_ROLES: readonly FieldRole[] = ["text", "title", "id"];

const ALL_ROLES = Object.keys(CONTENT) as FieldRole[];

/** Adds --question-field, --answer-field, --id-field, --text-field and --title-field, or those of some roles. */
export function addFieldFlags(command: Command, roles: readonly FieldRole[] = ALL_ROLES): Command {
  for (const role of roles) {
    command.option(
      `--${role}-field <name>`,
      `field or column with ${CONTENT[role]}, e.g. ${EXAMPLES[role]} (default: found by its name)`,
    );
  }
  return command;
}

const EXAMPLES: Readonly<Record<FieldRole, string>> = {
  ...{ question: "query", answer: "answers.text", id: "doc_id", text: "body", title: "heading" },
};

/** The fields that the flags name. */
export function fieldsOf(flags: FieldFlags): Fields {
  const named = ALL_ROLES.flatMap((role) => {
    const field = flags[`${role}Field`];
    return field === undefined ? [] : [[role, field] as const];
  });
  return Object.fromEntries(named);
}

/**
 * The dataset that --dataset and the field flags name; undefined without --dataset.
 * @throws {ConfigError} as `datasetNamed`; USAGE for field flags without --dataset.
 */
export function datasetOf(flags: FieldFlags & { dataset?: string }): DatasetSetting | undefined {
  const fields = fieldsOf(flags);
  if (flags.dataset !== undefined) return datasetNamed(flags.dataset, "--dataset", fields);
  refuseFieldsWithoutData(fields);
  return undefined;
}

/** @throws {ConfigError} USAGE */
export function refuseFieldsWithoutData(fields: Fields): void {
  const [role] = Object.keys(fields);
  if (role === undefined) return;
  throw new ConfigError(
    "USAGE",
    `--${role}-field would have no effect: it belongs to --dataset, which is not given. Leave it out.`,
  );
}

/** A corpus file with the user's names for its fields. */
export interface OpenCorpus {
  path: string;
  /** Can be called again. */
  passages(): AsyncIterable<Passage>;
}

/** The corpus that a command's argument names; notes how its fields were understood. */
export async function openCorpus(
  path: string,
  flags: FieldFlags,
  context: Pick<CliContext, "note">,
): Promise<OpenCorpus> {
  const fields = fieldsOf(flags);
  await noteFields(path, fields, context);
  return { path, passages: () => readPassages(path, fields) };
}

/** Notes how the fields of a file in no known layout were understood. */
export async function noteFields(
  path: string,
  fields: Fields,
  context: Pick<CliContext, "note">,
): Promise<void> {
  const file = await openDataFile(path, fields);
  if (file?.fields != null) context.note(`${path}: ${fieldsText(file.fields)}`);
}

/** `noteFields` for the files of a dataset setting. */
export async function noteDatasetFields(
  { name, tasks, corpus, fields = {} }: DatasetSetting,
  context: Pick<CliContext, "note">,
): Promise<void> {
  if (name !== "files") return;
  const { question, answer, id, ...ofPassages } = fields as Fields;
  if (typeof tasks === "string") await noteFields(tasks, { question, answer, id }, context);
  if (typeof corpus === "string") await noteFields(corpus, ofPassages, context);
}
