import { MADE } from "./made.ts";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { evaluationDocument } from "../../src/view/documents/evaluation.ts";
import { documentPage } from "../../src/view/html/page.ts";
import type { Document } from "../../src/view/document.ts";
import { documentMarkdown } from "../../src/view/markdown.ts";
import { openResults } from "../../src/view/results-files.ts";

async function documentOf(places: readonly string[]): Promise<Document> {
  const files = await openResults(places);
  return evaluationDocument(
    files.map((own) => ({ files: own, decode: null, goldOf: () => ["p1"] })),
  );
}

/** Results as Markdown. */
export async function resultsMarkdown(places: readonly string[]): Promise<string> {
  return documentMarkdown(await documentOf(places));
}

/** Writes the page of results; "p1" is every question's gold passage. */
export async function writePage(path: string, places: readonly string[]): Promise<string> {
  const out = createWriteStream(path);
  for await (const piece of documentPage(await documentOf(places), MADE)) out.write(piece);
  out.end();
  await finished(out);
  return path;
}
