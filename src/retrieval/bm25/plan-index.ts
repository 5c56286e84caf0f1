import type { Passage } from "../../trajectory/task.ts";
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
  /** The corpus in messages: its path. */
  source?: string;
  signal?: AbortSignal;
}

/**
 * Indexes the first passages of a corpus in memory and extrapolates: text, postings and time grow with the number of
 * passages, the vocabulary by the power law that the two halves of the sample show (Heaps). The rest of the corpus is only counted.
 *
 * @throws {DataError} CORPUS_EMPTY and what reading throws.
 */
export async function planIndex(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  { sample = 20_000, source, signal, ...bm25 }: PlanIndexOptions = {},
): Promise<IndexPlan> {
  const collector = corpusCollector(resolveBm25Options(bm25, "index").analyzer, source);
  const begin = performance.now();
  const finishSample = () => {
    const sampled = collector.passages;
    const { terms, positions } = collector.finish();
    return { sampled, terms, postings: positions.length, ms: performance.now() - begin };
  };
  let finished: ReturnType<typeof finishSample> | null = null;
  let count = 0;
  let textBytes = 0;
  let termsAtHalf = 0;
  for await (const passage of passages) {
    count += 1;
    if (count % 1000 === 0) signal?.throwIfAborted();
    if (finished !== null) continue;
    textBytes += Buffer.byteLength(collector.add(passage)) + 1;
    if (2 * count === sample) termsAtHalf = collector.terms;
    if (count === sample) finished = finishSample();
  }
  const { sampled, terms, postings, ms } = finished ?? finishSample();
  const scale = count / sampled;
  const growth = termsAtHalf === 0 ? 1 : scale ** Math.log2(terms.size / termsAtHalf);
  let termBytes = 0;
  for (const term of terms.keys()) termBytes += Buffer.byteLength(term) + 1;
  return forecast({
    passages: count,
    postings: postings * scale,
    terms: terms.size * growth,
    termBytes: termBytes * growth,
    textBytes: textBytes * scale,
    seconds: (ms / 1000) * scale,
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
