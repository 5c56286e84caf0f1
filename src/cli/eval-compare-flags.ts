import { type Command, InvalidArgumentError, Option } from "commander";
import { ANSWER_KINDS, type AnswerKind } from "../evaluate/metrics/answer-metrics.ts";
import { decimal, wholeNumber } from "./options.ts";

/** Flags of `agentrl eval compare`. */
export interface EvalCompareFlags {
  metrics?: string[];
  across?: string[];
  answers?: AnswerKind[];
  changed?: string;
  overwrite?: true;
  paper?: string;
  column?: string;
  row?: string;
  published?: number;
  n?: number;
  predictionField?: string;
  referencesField?: string;
  references?: string;
  idField?: string;
  format?: "text" | "md";
  seed?: number;
  json?: true;
}

/** The runs to compare. */
export function addWhatOptions(command: Command): void {
  command
    .option(
      "--metrics <list>",
      "metrics of the rows to compare, comma-separated (default: em,f1)",
      listed,
    )
    .addOption(acrossOption("any other difference is an error"))
    .addOption(
      new Option(
        "--answers <kinds>",
        `only questions with such answers, comma-separated: ${ANSWER_KINDS.join(", ")} (default: all)`,
      ).argParser(answerKinds),
    )
    .option(
      "--changed <file>",
      "write the questions on which the first metric differs, one JSON line each",
    )
    .option(
      "--paper <recipe>",
      "compare one run with the paper's numbers in a recipe, e.g. search-r1",
    )
    .option(
      "--column <name>",
      "column of the paper's table (default: the column with the dataset's name)",
    )
    .option("--row <name>", "row of the paper's table (default: all rows)")
    .option(
      "--published <value>",
      "compare one run with this published number; a share is written .480",
      decimal(0),
    )
    .option(
      "--n <questions>",
      "number of questions behind the published number (default: the number is exact)",
      wholeNumber(1),
    );
}

/** Fields of a predictions file. */
export function addPredictionOptions(command: Command): void {
  command
    .option(
      "--prediction-field <field>",
      "field of the answer in a predictions file (default: prediction)",
    )
    .option(
      "--references-field <field>",
      "field of the accepted answers in a predictions file (default: references)",
    )
    .option("--references <file>", "file with the references, if the predictions file has none")
    .option("--id-field <field>", "field of the question's id in a predictions file (default: id)");
}

/** --across PARTS. @param otherwise what other differences do. */
export function acrossOption(otherwise: string): Option {
  return new Option(
    "--across <parts>",
    `parts of the protocol that may differ, comma-separated, e.g. retriever,topK; ${otherwise}`,
  ).argParser(listed);
}

function answerKinds(text: string): AnswerKind[] {
  return listed(text, undefined).map((name) => {
    const kind = ANSWER_KINDS.find((each) => each === name);
    if (kind !== undefined) return kind;
    throw new InvalidArgumentError(`Expected some of ${ANSWER_KINDS.join(", ")}.`);
  });
}

function listed(text: string, before: string[] | undefined): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) throw new InvalidArgumentError("Expected comma-separated names.");
  return [...(before ?? []), ...names];
}
