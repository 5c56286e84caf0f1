import { DataError } from "../base/errors.ts";
import { sha256 } from "../base/files.ts";
import type { Passage } from "../trajectory/task.ts";
import type { Fields } from "./fields.ts";
import { type CorpusFile, dataFile, type QuestionFile } from "./file-layout.ts";
import { type PlacedRecord, readRecords } from "./records.ts";
import { sourceName } from "./tasks.ts";

/**
 * The passages of a corpus file, streamed: {id, title, text}, BEIR's {_id, title, text} or FlashRAG's {id, contents}, also
 * `.gz`. A question file with contexts is read as the corpus of its distinct passages (by title and
 * text); only then does memory grow with the corpus. A passage without an id gets `<file name>-<number>`.
 *
 * @param fields the user's names for the file's fields.
 * @throws {DataError} DATA_LAYOUT_UNKNOWN, DATA_FIELD_UNKNOWN, DATA_FIELDS_UNCLEAR, DATA_BAD_RECORD and JSONL_BAD_LINE with
 *   file:line, FILE_MISSING.
 */
export async function* readPassages(path: string, fields?: Fields): AsyncGenerator<Passage> {
  let file: CorpusFile | QuestionFile | undefined;
  const seen = new Set<string>();
  for await (const placed of readRecords(path)) {
    file ??= passageFile(placed, fields);
    const read = file.read(placed.record, placed.where);
    if ("text" in read) {
      yield { ...read, id: read.id ?? `${sourceName(path)}-${placed.number}` };
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

/** A corpus, or questions in a known layout, which may have contexts. */
function passageFile(first: PlacedRecord, fields: Fields = {}): CorpusFile | QuestionFile {
  const file = dataFile(first, fields, "corpus");
  // Own fields name no contexts.
  if (file.kind === "questions" && file.fields !== null) noContext(first);
  return file;
}

function noContext({ where }: PlacedRecord): never {
  throw new DataError(
    "DATA_LAYOUT_UNKNOWN",
    `${where}: is a question without passages. Index your passages (agentrl index build PASSAGES --out INDEX) and give --index INDEX, or use questions that each have a context.`,
  );
}
