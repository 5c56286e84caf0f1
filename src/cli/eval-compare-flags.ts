import { InvalidArgumentError } from "commander";
import { ANSWER_KINDS, type AnswerKind } from "../evaluate/metrics/answer-metrics.ts";
import {
  type Flags,
  decimal,
  jsonFlag,
  options,
  overwriteFlag,
  seedFlag,
  wholeNumber,
} from "./options.ts";

/** Options of `agentrl eval compare`. */
export const COMPARE_OPTIONS = options({
  metrics: ["<list>", "metrics of the rows to compare, comma-separated (default: em,f1)", listed],
  across: acrossFlag("any other difference is an error"),
  answers: [
    "<kinds>",
    `only questions with such answers, comma-separated: ${ANSWER_KINDS.join(", ")} (default: all)`,
    answerKinds,
  ],
  changed: ["<file>", "write the questions on which the first metric differs, one JSON line each"],
  paper: ["<recipe>", "compare one run with the paper's numbers in a recipe, e.g. search-r1"],
  column: ["<name>", "column of the paper's table (default: the column with the dataset's name)"],
  row: ["<name>", "row of the paper's table (default: all rows)"],
  published: [
    "<value>",
    "compare one run with this published number; a share is written .480",
    decimal(0),
  ],
  n: [
    "<questions>",
    "number of questions behind the published number (default: the number is exact)",
    wholeNumber(1),
  ],
  predictionField: ["<field>", "field of the answer in a predictions file (default: prediction)"],
  referencesField: [
    "<field>",
    "field of the accepted answers in a predictions file (default: references)",
  ],
  references: ["<file>", "file with the references, if the predictions file has none"],
  idField: ["<field>", "field of the question's id in a predictions file (default: id)"],
  format: ["<format>", "text, or md for Markdown (default: text)", ["text", "md"]],
  overwrite: overwriteFlag("replace an existing file of --changed"),
  seed: seedFlag("seed of the bootstrap and the permutation test (default: 0)"),
  json: jsonFlag(),
});

export type EvalCompareFlags = Flags<typeof COMPARE_OPTIONS>;

/** Parts of the protocol that may differ. @param otherwise what other differences do. */
export function acrossFlag(otherwise: string) {
  const what = `parts of the protocol that may differ, comma-separated, e.g. retriever,topK; ${otherwise}`;
  return ["<parts>", what, listed] as const;
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
