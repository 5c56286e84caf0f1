import { DataError } from "../base/errors.ts";
import type { ReportRow, ResultFiles } from "./results-files.ts";

/** Rows as JSON lines, unchanged; for several results each row starts with its result's name and fingerprint. */
export async function* rowsAsJsonl(files: readonly ResultFiles[]): AsyncGenerator<string> {
  for await (const row of markedRows(files)) yield `${JSON.stringify(row)}\n`;
}

/**
 * Rows as CSV (RFC 4180: CRLF, quotes doubled). One column per field, objects spread as `error.code`, lists as JSON text, null as an empty
 * cell; the files are read twice, because the header has the columns of all rows. A text that a spreadsheet would run starts with an
 * apostrophe.
 */
export async function* rowsAsCsv(files: readonly ResultFiles[]): AsyncGenerator<string> {
  const columns = new Set<string>();
  for await (const row of markedRows(files)) for (const [key] of cellsOf(row)) columns.add(key);
  yield csvLine([...columns].map(unrun));
  for await (const row of markedRows(files)) {
    const cells = new Map(cellsOf(row));
    yield csvLine([...columns].map((column) => cells.get(column) ?? ""));
  }
}

/** @throws {DataError} FILE_MISSING if a result has no rows. */
async function* markedRows(
  files: readonly ResultFiles[],
): AsyncGenerator<ReportRow | Record<string, unknown>> {
  for (const own of files) {
    requireRows(own);
    const mark = { result: own.name, fingerprint: own.results.fingerprint };
    for await (const row of own.rows()) yield files.length > 1 ? { ...mark, ...row } : row;
  }
}

/** @throws {DataError} FILE_MISSING */
export function requireRows({ folder, hasRows }: ResultFiles): void {
  if (hasRows) return;
  throw new DataError(
    "FILE_MISSING",
    `${folder}: has no rows.jsonl, which this format needs. \`agentrl eval --out FOLDER\` writes it beside results.json.`,
  );
}

function cellsOf(row: object, prefix = ""): [column: string, text: string][] {
  return Object.entries(row).flatMap(([key, value]: [string, unknown]): [string, string][] => {
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return cellsOf(value, `${prefix}${key}.`);
    if (value === null || value === undefined) return [[prefix + key, ""]];
    return [[prefix + key, typeof value === "string" ? unrun(value) : JSON.stringify(value)]];
  });
}

/** Spreadsheets take texts that begin so for formulas: Excel also behind white space and quotes, in Japan in full width. */
const FORMULA = /^(?:[\t\r\n]|[\s\p{C}'"]*[=+\-@＝＋－＠])/u;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A text that no spreadsheet runs. Dropping the first apostrophe of a cell that matches FORMULA restores the text. */
function unrun(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) =>
    /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  );
  return `${quoted.join(",")}\r\n`;
}
