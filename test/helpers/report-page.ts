import { MADE } from "./made.ts";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { evaluationPage } from "../../src/view/html/evaluation-page.ts";
import { openResults } from "../../src/view/results-files.ts";

/** Writes the page of results; "p1" is every question's gold passage. */
export async function writePage(path: string, places: readonly string[]): Promise<string> {
  const files = await openResults(places);
  const results = files.map((own) => ({ files: own, decode: null, goldOf: () => ["p1"] }));
  const out = createWriteStream(path);
  for await (const piece of evaluationPage(results, MADE)) out.write(piece);
  out.end();
  await finished(out);
  return path;
}
