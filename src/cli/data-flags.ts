import { plural } from "../base/format.ts";
import { dataSource, isDataFolder, skippedText } from "../data/data-folder.ts";
import type { DatasetSetting } from "../data/dataset.ts";
import { type FieldRole, type Fields, fieldFlags, fieldsText } from "../data/fields.ts";
import { openDataFile } from "../data/file-layout.ts";
import { readPassages } from "../data/passages.ts";
import { answerNotices } from "../data/tasks.ts";
import type { Passage } from "../trajectory/task.ts";
import { datasetNamed } from "../worlds/open-dataset.ts";
import { type Flags, options } from "./options.ts";
import { usage } from "./usage.ts";

const CONTENT: Readonly<Record<FieldRole, [what: string, example: string]>> = {
  question: ["the question", "query"],
  answer: ["the accepted answer, or the list of them", "answers.text"],
  id: ["the id", "doc_id"],
  text: ["the text of a passage", "body"],
  title: ["the title of a passage", "heading"],
};

const ALL_ROLES = Object.keys(CONTENT) as FieldRole[];

function fieldFlag(role: FieldRole) {
  const [what, example] = CONTENT[role];
  return [
    "<name>",
    `field or column with ${what}, e.g. ${example} (default: found by its name)`,
  ] as const;
}

export const ANSWER_SEPARATOR = [
  "<text>",
  'what separates accepted answers within one text, e.g. "|", ";" or "\\n"; none: every text is one answer (default: only a list as JSON or Python prints it is several)',
] as const;

/** Fields of question files. */
export const QUESTION_OPTIONS = options({
  questionField: fieldFlag("question"),
  answerField: fieldFlag("answer"),
  idField: fieldFlag("id"),
  answerSeparator: ANSWER_SEPARATOR,
});

/** Fields of corpora. */
export const PASSAGE_OPTIONS = options({
  textField: fieldFlag("text"),
  titleField: fieldFlag("title"),
  idField: fieldFlag("id"),
});

export const FIELD_OPTIONS = { ...QUESTION_OPTIONS, ...PASSAGE_OPTIONS };

/** The user's names for the fields of files in no known layout. */
export type FieldFlags = Flags<typeof FIELD_OPTIONS>;

/** The fields that the flags name. */
export function fieldsOf(flags: FieldFlags): Fields {
  const named = ALL_ROLES.map((role) => [role, flags[`${role}Field`]] as const);
  const all = [...named, ["answerSeparator", flags.answerSeparator] as const];
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
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
  const [flag] = fieldFlags(fields);
  if (flag === undefined) return;
  throw usage(
    `${flag} would have no effect: it belongs to --dataset, which is not given. Leave it out.`,
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
  context: { note: (text: string) => void },
): Promise<OpenCorpus> {
  const fields = fieldsOf(flags);
  await noteFields(path, fields, context);
  return { path, passages: () => readPassages(path, fields) };
}

/** Notes how the fields of a file in no known layout were understood. */
export async function noteFields(
  path: string,
  fields: Fields,
  context: { note: (text: string) => void },
): Promise<void> {
  if (isDataFolder(path)) {
    const { files, skipped } = await dataSource(path);
    const read = `${plural(files.length, "file")} ${files.length === 1 ? "is" : "are"} read`;
    if (skipped.length > 0) context.note(`${path}: ${read}${skippedText(skipped)}.`);
  }
  const file = await openDataFile(path, fields);
  if (file?.fields != null) context.note(`${path}: ${fieldsText(file.fields)}`);
}

/** `noteFields` for the files of a dataset setting, and `noteAnswers`. */
export async function noteDatasetFields(
  setting: DatasetSetting,
  context: { note: (text: string) => void },
): Promise<void> {
  const { name, tasks, corpus, fields = {} } = setting;
  if (name !== "files") return;
  const { question, answer, id, answerSeparator: _, ...ofPassages } = fields as Fields;
  if (typeof tasks === "string") await noteFields(tasks, { question, answer, id }, context);
  if (typeof corpus === "string") await noteFields(corpus, ofPassages, context);
  await noteAnswers([setting], context);
}

/** Notes what may be wrong with the accepted answers of files of questions; each file once. */
export async function noteAnswers(
  settings: readonly DatasetSetting[],
  context: { note: (text: string) => void },
): Promise<void> {
  const files = new Map<string, Fields>();
  for (const { name, tasks, fields = {} } of settings)
    if (name === "files" && typeof tasks === "string") files.set(tasks, fields as Fields);
  for (const [path, { question, answer, id, answerSeparator }] of files) {
    const notices = await answerNotices(path, { question, answer, id, answerSeparator });
    for (const notice of notices) context.note(`${path}: ${notice}`);
  }
}
