import { renderText } from "../base/table.ts";
import type { FileReport } from "../data/check-file.ts";

const SHOWN = 48;

/** The first records of a file as a table: what the tool understood. */
export function sampleText(sample: FileReport["sample"]): string {
  if (sample.length === 0) return "";
  const rows = sample.map((read) =>
    "question" in read
      ? { id: read.id, question: read.question, answers: read.references.join(" | ") }
      : { id: read.id, title: read.title, text: read.text },
  );
  const columns = Object.keys(rows[0] ?? {});
  return renderText({ columns, rows: rows.map((row) => Object.values(row).map(shortened)) });
}

/** A text on one line, as long as a cell of a sample may be. */
export function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN - 1)}…`;
}

/** Problems, with those of one kind together: the first one whole, the places of the others. */
export function problemLines(problems: readonly string[]): string[] {
  const kinds = new Map<string, string[]>();
  for (const problem of problems) {
    const kind = kindOf(problem);
    kinds.set(kind, [...(kinds.get(kind) ?? []), problem]);
  }
  return [...kinds.values()].flatMap(([first = "", ...others]) => {
    if (others.length === 0) return [first];
    const places = others.slice(0, PLACES).map((other) => PLACE.exec(other)?.[1] ?? "?");
    const more = others.length > PLACES ? ", …" : "";
    return [first, `  and ${others.length} more of this kind: ${places.join(", ")}${more}`];
  });
}

const PLACES = 5;

/** `file:line` or `file: record n` at the start of a problem. */
const PLACE = /^.*?:\s?((?:record )?\d+): /;

/** A problem without its place, what was found, and the parser's words in brackets. */
function kindOf(problem: string): string {
  return problem
    .replace(PLACE, "")
    .replace(/\(.*\)/, "")
    .replace(/the id ".*" is the same as in .*/, "the id is the same")
    .replace(/ is .*?(?=[:;] expected|$)/, " is …");
}
