import { DataError } from "../base/errors.ts";
import { sha256 } from "../base/files.ts";
import type { Passage } from "../trajectory/task.ts";
import { corpusLayouts, taskLayouts } from "./layouts/index.ts";
import type { CorpusLayout, TaskLayout, JsonRecord } from "./layouts/layout.ts";
import { type PlacedRecord, readRecords } from "./records.ts";

/**
 * The passages of a corpus file, streamed: {id, title, text}, BEIR's {_id, title, text} or FlashRAG's {id, contents}, also
 * `.gz`. A question file with contexts is read as the corpus of its distinct passages (by title and
 * text); only then does memory grow with the corpus.
 *
 * @throws {DataError} DATA_LAYOUT_UNKNOWN, DATA_BAD_RECORD and JSONL_BAD_LINE with file:line, FILE_MISSING.
 */
export async function* readPassages(path: string): AsyncGenerator<Passage> {
  let layout: CorpusLayout | TaskLayout | undefined;
  const seen = new Set<string>();
  for await (const placed of readRecords(path)) {
    layout ??= layoutOf(placed.record) ?? unknownLayout(placed);
    const read = layout.read(placed.record, placed.where);
    if ("text" in read) {
      yield read;
      continue;
    }
    for (const passage of read.annotations.context ?? noContext(placed)) {
      const key = sha256(`${passage.title}\u0000${passage.text}`);
      if (seen.has(key)) continue;
      seen.add(key);
      yield passage;
    }
  }
}

/** The corpus layout that fits a file's first record; undefined when there is none. */
export function corpusLayoutOf(record: JsonRecord): CorpusLayout | undefined {
  return corpusLayouts.parts.find((layout) => layout.fits(record));
}

function layoutOf(record: JsonRecord): CorpusLayout | TaskLayout | undefined {
  return corpusLayoutOf(record) ?? taskLayouts.parts.find((layout) => layout.fits(record));
}

function noContext({ where }: PlacedRecord): never {
  throw new DataError(
    "DATA_LAYOUT_UNKNOWN",
    `${where}: is a question without passages; a corpus, or questions that each have a context, is required.`,
  );
}

function unknownLayout({ record, where }: PlacedRecord): never {
  const known = corpusLayouts.parts.map(({ name, summary }) => `${name} (${summary})`);
  throw new DataError(
    "DATA_LAYOUT_UNKNOWN",
    `${where}: a record with the keys ${Object.keys(record).join(", ")} is not a passage in a known layout. Known: ${known.join("; ")}; or questions with a context.`,
  );
}
