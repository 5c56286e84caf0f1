import type { Made } from "./document.ts";
import { evaluationDocument } from "./documents/evaluation.ts";
import { documentPage } from "./html/page.ts";
import { documentMarkdown } from "./markdown.ts";
import { rowsAsCsv, rowsAsJsonl } from "./rows-text.ts";
import type { ReadableResult } from "./viewer/evaluation-items.ts";

/** Formats that are one text; `lm-eval` is a folder (lm-eval.ts). */
export const TEXT_FORMATS = ["json", "jsonl", "csv", "md", "html"] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

/**
 * Results in a format, in pieces that each end a line: `json` as in `results.json` (a list for several), `jsonl` and `csv` their rows, `md`
 * and `html` for people. Rows are streamed.
 *
 * @param options.made for the header of a page.
 * @param options.across parts of the protocol in which results may differ on purpose.
 * @throws {DataError} FILE_MISSING if the format needs rows and there are none.
 */
export async function* reportText(
  results: readonly ReadableResult[],
  format: TextFormat,
  { made, across = [] }: { made: Made; across?: readonly string[] | undefined },
): AsyncGenerator<string> {
  const files = results.map((own) => own.files);
  switch (format) {
    case "json": {
      const parsed = files.map((own) => own.results);
      yield `${JSON.stringify(parsed.length === 1 ? parsed[0] : parsed, null, 2)}\n`;
      return;
    }
    case "jsonl":
      yield* rowsAsJsonl(files);
      return;
    case "csv":
      yield* rowsAsCsv(files);
      return;
    case "md":
      yield documentMarkdown(await evaluationDocument(results, across));
      return;
    case "html":
      yield* documentPage(await evaluationDocument(results, across), made);
  }
}
