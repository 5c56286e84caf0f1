import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { DataError, errorMessage } from "../base/errors.ts";
import type { Passage } from "../trajectory/task.ts";
import { type Bm25Options, corpusCollector, resolveBm25Options } from "./bm25.ts";

/** What an index will cost. */
export interface IndexPlan {
  passages: number;
  /** Size of the index folder. The text's share is `textBytes`. */
  bytesOnDisk: number;
  textBytes: number;
  /** Memory of an opened index; passages stay on disk. */
  residentBytes: number;
  /** Time to build on this machine. */
  seconds: number;
  /** Passages that were measured; equal to `passages` when nothing is extrapolated. */
  sampled: number;
}

/** How `planIndex` measures. */
export interface PlanIndexOptions extends Bm25Options {
  /** Passages to measure, from the start of the corpus. */
  sample?: number;
  /** Passages in the whole corpus; asked only when the sample ends before it. */
  countPassages: () => Promise<number>;
}

/**
 * Indexes the first passages of a corpus in memory and extrapolates: text, postings and time grow with the number of
 * passages, the vocabulary by the power law that the two halves of the sample show (Heaps).
 *
 * @throws {DataError} CORPUS_EMPTY and what reading throws.
 */
export async function planIndex(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  { sample = 20_000, countPassages, ...bm25 }: PlanIndexOptions,
): Promise<IndexPlan> {
  const collector = corpusCollector(resolveBm25Options(bm25, "index").analyzer);
  const begin = performance.now();
  let textBytes = 0;
  let termsAtHalf = 0;
  let complete = true;
  for await (const passage of passages) {
    if (collector.passages === sample) {
      complete = false;
      break;
    }
    textBytes += Buffer.byteLength(collector.add(passage)) + 1;
    if (2 * collector.passages === sample) termsAtHalf = collector.terms;
  }
  const sampled = collector.passages;
  const { terms, positions } = collector.finish();
  const seconds = (performance.now() - begin) / 1000;
  const count = complete ? sampled : await countPassages();
  const scale = count / sampled;
  const growth = termsAtHalf === 0 ? 1 : scale ** Math.log2(terms.size / termsAtHalf);
  let termBytes = 0;
  for (const term of terms.keys()) termBytes += Buffer.byteLength(term) + 1;
  return forecast({
    passages: count,
    postings: positions.length * scale,
    terms: terms.size * growth,
    termBytes: termBytes * growth,
    textBytes: textBytes * scale,
    seconds: seconds * scale,
    sampled,
  });
}

interface Measured {
  passages: number;
  postings: number;
  terms: number;
  termBytes: number;
  textBytes: number;
  seconds: number;
  sampled: number;
}

/** Bytes of the folder's layout (index-manifest.ts) and of what an opened index holds. */
function forecast(measured: Measured): IndexPlan {
  const { passages, postings, terms, termBytes, textBytes, seconds, sampled } = measured;
  const arrays = 4 * (terms + 1) + 6 * postings + 4 * passages + 8 * (passages + 1);
  return {
    passages,
    bytesOnDisk: Math.round(arrays + termBytes + textBytes + MANIFEST_BYTES),
    textBytes: Math.round(textBytes),
    residentBytes: Math.round(arrays + SCORING_BYTES * passages + DICTIONARY_BYTES * terms),
    seconds,
    sampled,
  };
}

const MANIFEST_BYTES = 1900;

/** A length penalty and a score per passage, float64 each. */
const SCORING_BYTES = 16;

/** Measured on Node 20: one short string and its place in a Map. */
const DICTIONARY_BYTES = 90;

/**
 * Lines of a text file (`.gz` is unpacked) that hold more than a line break: the passages of a JSON-lines corpus,
 * without parsing them.
 *
 * @throws {DataError} FILE_MISSING
 */
export async function countLines(path: string): Promise<number> {
  const file = createReadStream(path, { highWaterMark: 1 << 20 });
  const source = path.endsWith(".gz") ? file.pipe(createGunzip({ chunkSize: 1 << 20 })) : file;
  file.on("error", (error) => source.destroy(error));
  const newline = 10;
  let lines = 0;
  let last = newline;
  try {
    for await (const chunk of source) {
      const bytes = chunk as Buffer;
      let from = 0;
      for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
        if (at > from || (at === 0 && last !== newline)) lines += 1;
        from = at + 1;
      }
      last = bytes[bytes.length - 1] ?? last;
    }
  } catch (error) {
    throw new DataError("FILE_MISSING", `${path}: cannot be read (${errorMessage(error)}).`, {
      cause: error,
    });
  }
  return last === newline ? lines : lines + 1;
}
