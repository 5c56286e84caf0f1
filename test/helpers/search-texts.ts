import { existsSync } from "node:fs";
import { join } from "node:path";
import { readPassages } from "../../src/data/passages.ts";

const folder = join(import.meta.dirname, "../../../shared/data");

/** Where real corpora lie, or null where they do not. */
export const sharedData = existsSync(join(folder, "scifact")) ? folder : null;

const CORPORA = [
  "hotpotqa/dev-500-paragraphs.jsonl",
  "scifact/corpus.jsonl.gz",
  "enwiki/docs.jsonl.gz",
];

/** Titles and texts of the first passages of each corpus; none without them. */
export async function* searchTexts(passagesOfEach: number): AsyncGenerator<string> {
  if (sharedData === null) return;
  for (const corpus of CORPORA) {
    let count = 0;
    for await (const { title, text } of readPassages(join(sharedData, corpus))) {
      yield `${title}\n${text}`;
      count += 1;
      if (count === passagesOfEach) break;
    }
  }
}
