import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  type FileEntry,
  openCheckedFile,
  createFile,
  type FileWriter,
} from "../store/checked-file.ts";
import { openCollected, type PassageEntries } from "../store/passage-file.ts";
import { lengthsOf, meanLength } from "./corpus.ts";
import { type WrittenCorpus, removeRuns } from "./corpus-writer.ts";
import { type Bm25Parameters, bm25Tables } from "./formula.ts";
import { type IdEntries, writeIds } from "./id-table.ts";
import { type IndexSegment, SEGMENT_FILES, segmentFolder } from "./index-manifest.ts";
import { mergePostings, type PostingsSource, runSource } from "./merge-postings.ts";
import { postingsWriter } from "./postings-format.ts";
import { termDictionaryWriter } from "./term-dictionary.ts";

export interface SegmentParts {
  sources: PostingsSource[];
  /** [N] terms per passage. */
  lengths: Uint32Array<ArrayBuffer>;
  ids: IdEntries;
  passages: PassageEntries;
}

export interface SegmentTarget {
  folder: string;
  name: string;
  parameters: Bm25Parameters;
  signal: AbortSignal | undefined;
}

/** Writes a segment for a corpus whose passages are already in its folder. */
export async function segmentOfCorpus(
  { runs, entries: passages, ids }: WrittenCorpus,
  target: SegmentTarget,
  source: string,
): Promise<IndexSegment> {
  const own = segmentFolder(target.folder, target.name);
  const lengths = concatenated(runs.map((run) => run.lengths));
  const sorted = ids.sorted();
  await (await openCollected(own, passages, sorted, source)).close();
  const files = runs.map(({ path, file }) => openCheckedFile(path, file));
  try {
    let base = 0;
    const sources = files.map((file, i) => {
      const run = runSource(file, base);
      base += runs[i]!.lengths.length;
      return run;
    });
    return await writeSegment({ sources, lengths, ids: sorted, passages }, target);
  } finally {
    for (const file of files) file.close();
    removeRuns(own);
  }
}

/** Writes all files of a segment except those of its passages. */
export async function writeSegment(
  { sources, lengths, ids, passages }: SegmentParts,
  { folder, name, parameters, signal }: SegmentTarget,
): Promise<IndexSegment> {
  const own = segmentFolder(folder, name);
  const open: FileWriter[] = [];
  const create = (file: keyof typeof SEGMENT_FILES): FileWriter => {
    const writer = createFile(join(own, SEGMENT_FILES[file]));
    open.push(writer);
    return writer;
  };
  try {
    const { total, longest } = lengthsOf(lengths);
    const tables = bm25Tables(parameters, meanLength(total, lengths.length), longest);
    const terms = create("terms");
    const termBlocks = create("termBlocks");
    const postings = create("postings");
    const merging = mergePostings(sources, {
      dictionary: termDictionaryWriter(terms, termBlocks),
      postings: postingsWriter(postings, lengths, tables),
    });
    const counts = await finished(merging, signal);
    const idFile = create("ids");
    writeIds(ids, idFile);
    return {
      name,
      passages: lengths.length,
      ...counts,
      totalLength: total,
      longest,
      files: {
        terms: terms.finish(),
        termBlocks: termBlocks.finish(),
        postings: postings.finish(),
        lengths: writeLengths(create("lengths"), lengths),
        ids: idFile.finish(),
        ...passages,
      },
    };
  } finally {
    for (const writer of open) writer.abandon();
  }
}

/** Runs a generator to its end and lets other work run at every yield. */
async function finished<T>(
  steps: Generator<undefined, T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
    signal?.throwIfAborted();
  }
}

function writeLengths(out: FileWriter, lengths: Uint32Array): FileEntry {
  out.append(new Uint8Array(lengths.buffer, lengths.byteOffset, lengths.byteLength));
  return out.finish();
}

function concatenated(arrays: readonly Uint32Array[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    all.set(array, at);
    at += array.length;
  }
  return all;
}
