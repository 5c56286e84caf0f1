import { cardNames } from "../../data/cards/card-names.ts";
import { letters } from "../claims/names-alike.ts";

/** Whether a column of a paper's table is the mean over its sets. @example isAverage("Avg.") // true */
export function isAverage(column: string): boolean {
  return ["average", "avg", "mean"].includes(letters(column));
}

/** Columns that are sets of questions. */
export function setColumns(columns: readonly string[]): string[] {
  return columns.filter((column) => !isAverage(column));
}

const FILE_ENDING = /\.(jsonl?|csv|tsv|parquet)(\.gz)?$/i;

/**
 * The column of a dataset: the one whose name its own begins with. Papers shorten names ("2Wiki" is 2wikimultihopqa) and do not say the
 * split. Of a path the file's name counts first, then its folders'.
 * @returns null: no column is named like it.
 * @example columnOf("2wikimultihopqa:dev", ["NQ", "2Wiki"]) // "2Wiki"
 * @example columnOf("data/hotpotqa/dev.jsonl", ["NQ", "HotpotQA"]) // "HotpotQA"
 */
export function columnOf(dataset: string, columns: readonly string[]): string | null {
  const parts = dataset.replace(/:[\w-]+$/, "").split(/[\\/]/);
  for (const part of parts.toReversed()) {
    const name = letters(part.replace(FILE_ENDING, ""));
    const found = columns.filter((column) => {
      const wanted = letters(column);
      return wanted !== "" && name.startsWith(wanted);
    });
    const [longest] = found.toSorted((a, b) => letters(b).length - letters(a).length);
    if (longest !== undefined) return longest;
  }
  return null;
}

/** The published dataset that a column is named after; null: none of agentrl's. @example datasetOfColumn("2Wiki") // "2wikimultihopqa" */
export function datasetOfColumn(column: string): string | null {
  return cardNames("questions").find((name) => columnOf(name, [column]) !== null) ?? null;
}
