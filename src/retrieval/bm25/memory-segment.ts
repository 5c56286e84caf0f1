import { createHash } from "node:crypto";
import type { Analyzer } from "../../text/analyzer.ts";
import type { Passage } from "../../trajectory/task.ts";
import { memoryFile, memoryWriter } from "../store/checked-file.ts";
import { memoryStore, passageLine, searchedText } from "../store/passage-file.ts";
import { duplicateId, emptyCorpus, lengthsOf, meanLength } from "./corpus.ts";
import { NONE_DEAD } from "./dead-file.ts";
import { type Bm25Parameters, bm25Tables } from "./formula.ts";
import { mergePostings, runSource } from "./merge-postings.ts";
import { postingsWriter } from "./postings-format.ts";
import { runBuilder } from "./run-builder.ts";
import type { Segment } from "./segment.ts";
import { openTermDictionary, termDictionaryWriter } from "./term-dictionary.ts";

/**
 * A segment in memory, with the same bytes as in a folder.
 *
 * @returns the segment, and SHA-256 of the passages' lines.
 * @throws {DataError} CORPUS_EMPTY, CORPUS_DUPLICATE_ID, PASSAGE_TOO_LONG.
 */
export function memorySegment(
  passages: readonly Passage[],
  analyzer: Analyzer,
  parameters: Bm25Parameters,
): { segment: Segment; sha256: string } {
  if (passages.length === 0) throw emptyCorpus("corpus");
  const hash = createHash("sha256");
  const builder = runBuilder();
  const positions = new Map<string, number>();
  passages.forEach((passage, position) => {
    const first = positions.get(passage.id);
    if (first !== undefined) throw duplicateId("corpus", passage.id, [first, position]);
    positions.set(passage.id, position);
    hash.update(`${passageLine(passage)}\n`);
    builder.add(analyzer.analyze(searchedText(passage)), passage.id);
  });
  const run = memoryWriter();
  const lengths = builder.write(run);
  const { total, longest } = lengthsOf(lengths);
  const { terms, termFile, blockFile, postingFile } = postingsOf(run.take(), lengths, parameters);
  const segment: Segment = {
    count: lengths.length,
    lengths,
    totalLength: total,
    longest,
    dictionary: openTermDictionary(memoryFile(termFile), memoryFile(blockFile), terms),
    postings: memoryFile(postingFile),
    passages: memoryStore(passages),
    dead: { ...NONE_DEAD, bits: null, totalLength: 0 },
    close: () => Promise.resolve(),
  };
  return { segment, sha256: hash.digest("hex") };
}

export function postingsOf(
  run: Uint8Array<ArrayBuffer>,
  lengths: Uint32Array,
  parameters: Bm25Parameters,
): { terms: number } & Record<"termFile" | "blockFile" | "postingFile", Uint8Array<ArrayBuffer>> {
  const { total, longest } = lengthsOf(lengths);
  const [terms, blocks, postings] = [memoryWriter(), memoryWriter(), memoryWriter()];
  const tables = bm25Tables(parameters, meanLength(total, lengths.length), longest);
  const merging = mergePostings([runSource(memoryFile(run), 0)], {
    dictionary: termDictionaryWriter(terms, blocks),
    postings: postingsWriter(postings, lengths, tables),
  });
  let step = merging.next();
  while (step.done !== true) step = merging.next();
  return {
    terms: step.value.terms,
    termFile: terms.take(),
    blockFile: blocks.take(),
    postingFile: postings.take(),
  };
}
