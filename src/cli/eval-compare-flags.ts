import { type Command, InvalidArgumentError } from "commander";
import type { ComparisonFormat } from "./comparison-text.ts";
import { decimal, wholeNumber } from "./options.ts";

/** Flags of `agentrl eval compare`. */
export interface EvalCompareFlags {
  metrics?: string[];
  across?: string[];
  changed?: string;
  paper?: string;
  column?: string;
  row?: string;
  published?: number;
  n?: number;
  predictionField?: string;
  referencesField?: string;
  references?: string;
  idField?: string;
  format?: ComparisonFormat;
  seed?: number;
  json?: true;
}

/** What to compare, and with what. */
export function addWhatOptions(command: Command): void {
  command
    .option("--metrics <list>", "with commas; anything that rows measure (default: em,f1)", listed)
    .option(
      "--across <parts>",
      "parts of the protocol that are meant to differ, with commas, e.g. retriever,topK; any other difference is an error",
      listed,
    )
    .option(
      "--changed <file>",
      "write the questions on which the first metric differs, one JSON line each",
    )
    .option("--paper <recipe>", "instead: hold one run against the tables of a recipe's paper")
    .option("--column <name>", "of the paper's tables (default: the one named like the dataset)")
    .option("--row <name>", "of the paper's tables (default: all)")
    .option(
      "--published <value>",
      "instead: hold one run against this number; a share as .480",
      decimal(0),
    )
    .option("--n <questions>", "how many the published number is of", wholeNumber(1));
}

/** Where a predictions file has its answers. */
export function addPredictionOptions(command: Command): void {
  command
    .option("--prediction-field <field>", "in predictions: the answer (default: prediction)")
    .option(
      "--references-field <field>",
      "in predictions: the accepted answers (default: references)",
    )
    .option("--references <file>", "where the references are, if not beside the predictions")
    .option("--id-field <field>", "in predictions: the question's id (default: id)");
}

function listed(text: string, before: string[] = []): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) throw new InvalidArgumentError("Expected names with commas between.");
  return [...before, ...names];
}
