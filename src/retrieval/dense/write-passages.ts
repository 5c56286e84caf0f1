import { createHash } from "node:crypto";
import type { Passage } from "../../trajectory/task.ts";
import { duplicateId, emptyCorpus } from "../bm25/corpus.ts";
import { equalHashes, idCollector } from "../bm25/id-table.ts";
import {
  linesOf,
  openPassages,
  type PassageEntries,
  type PassageFile,
  passageWriter,
} from "../store/passage-file.ts";
import { passageLine } from "../store/passage-store.ts";

/** The passages of a corpus, on disk. */
export interface WrittenPassages {
  entries: PassageEntries;
  /** Open; the caller closes it. */
  passages: PassageFile;
  /** Of the lines: the corpus's fingerprint. */
  sha256: string;
}

const BATCH = 1000;

/**
 * Streams a corpus into the passages' files of an index, in bounded memory (12 bytes per passage).
 *
 * @param source the corpus in messages.
 * @throws {DataError} CORPUS_EMPTY, CORPUS_DUPLICATE_ID, and what `passages` throws.
 */
export async function writePassages(
  folder: string,
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  { source, signal }: { source: string; signal?: AbortSignal | undefined },
): Promise<WrittenPassages> {
  const writer = passageWriter(folder);
  const ids = idCollector();
  const hash = createHash("sha256");
  let lines: string[] = [];
  const flush = (): void => {
    const { bytes, starts } = linesOf(lines);
    hash.update(bytes);
    writer.append(bytes, starts);
    lines = [];
    signal?.throwIfAborted();
  };
  try {
    for await (const passage of passages) {
      ids.add(passage.id);
      lines.push(passageLine(passage));
      if (lines.length === BATCH) flush();
    }
    flush();
    if (ids.count === 0) throw emptyCorpus(source);
    const entries = writer.finish();
    const written = openPassages(folder, entries, ids.count);
    for (const [first, second] of equalHashes(ids.sorted())) {
      const { id } = written.read(first);
      if (written.read(second).id !== id) continue;
      await written.close();
      throw duplicateId(source, id, [first, second]);
    }
    return { entries, passages: written, sha256: hash.digest("hex") };
  } finally {
    writer.abandon();
  }
}
