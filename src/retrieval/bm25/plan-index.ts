import { formatBytes } from "../../base/format.ts";
import { availableMemory } from "node:process";
import { ConfigError } from "../../base/errors.ts";
import { freeDiskBytes } from "../../base/files.ts";
import type { Passage } from "../../trajectory/task.ts";
import { PAGE_BYTES, memoryWriter } from "../store/checked-file.ts";
import { passageLine, searchedText, RECENT_UNITS } from "../store/passage-file.ts";
import { cacheLimit } from "./bm25-search.ts";
import { emptyCorpus } from "./corpus.ts";
import type { Bm25Options } from "./bm25-options.ts";
import { resolveBm25Options } from "./formula.ts";
import { postingsOf } from "./memory-segment.ts";
import { type RunBuilder, runBuilder } from "./run-builder.ts";

export interface IndexPlan {
  passages: number;
  /** Size of the index folder, including `textBytes`. */
  bytesOnDisk: number;
  textBytes: number;
  /** Additional disk space during the build. */
  temporaryBytes: number;
  /** Maximum memory of an open index; passages and most postings stay on disk. */
  residentBytes: number;
  /** Build time on this machine, in one thread. */
  seconds: number;
  /** Number of measured passages; equal to `passages` when nothing is extrapolated. */
  sampled: number;
}

interface PlanIndexOptions extends Bm25Options {
  /** Number of passages to measure, from the start of the corpus. */
  sample?: number;
  /** The corpus in messages: its path. */
  source?: string;
  signal?: AbortSignal;
  /** Called after every 1 000 passages. */
  onProgress?: (passages: number) => void;
}

/**
 * Indexes the first passages of a corpus in memory and extrapolates: text, postings and time linearly in the number of
 * passages, the vocabulary by the power law between the two halves of the sample (Heaps). The rest of the corpus is only counted.
 *
 * @throws {DataError} CORPUS_EMPTY and read errors.
 */
export async function planIndex(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  { sample = 20_000, source = "corpus", signal, onProgress, ...bm25 }: PlanIndexOptions = {},
): Promise<IndexPlan> {
  const { analyzer, parameters } = resolveBm25Options(bm25, "index");
  const measure = (sampled: Sampled): Measured => {
    const run = memoryWriter();
    const lengths = sampled.builder.write(run);
    const postings = postingsOf(run.take(), lengths, parameters);
    return {
      passages: lengths.length,
      terms: postings.terms,
      termBytes: postings.termFile.length,
      blockBytes: postings.blockFile.length,
      postingBytes: postings.postingFile.length,
      runBytes: run.bytes,
      textBytes: sampled.textBytes,
      ms: performance.now() - sampled.begin,
    };
  };
  const sampled: Sampled = { builder: runBuilder(), begin: performance.now(), textBytes: 0 };
  let measured: Measured | null = null;
  let termsAtHalf = 0;
  let count = 0;
  for await (const passage of passages) {
    count += 1;
    if (count % 1000 === 0) {
      signal?.throwIfAborted();
      onProgress?.(count);
    }
    if (measured !== null) continue;
    sampled.textBytes += Buffer.byteLength(passageLine(passage)) + 1;
    sampled.builder.add(analyzer.analyze(searchedText(passage)), passage.id);
    if (2 * count === sample) termsAtHalf = sampled.builder.terms;
    if (count === sample) measured = measure(sampled);
  }
  if (count === 0) throw emptyCorpus(source);
  return forecast(measured ?? measure(sampled), { count, termsAtHalf });
}

interface Sampled {
  builder: RunBuilder;
  begin: number;
  textBytes: number;
}

interface Measured {
  passages: number;
  terms: number;
  /** Sizes of the files of a segment, and of its run. */
  termBytes: number;
  blockBytes: number;
  postingBytes: number;
  runBytes: number;
  textBytes: number;
  ms: number;
}

/** Bytes of the folder (index-manifest.ts) and of an open index (open-index.ts). */
function forecast(
  measured: Measured,
  { count, termsAtHalf }: { count: number; termsAtHalf: number },
): IndexPlan {
  const scale = count / measured.passages;
  const growth = termsAtHalf === 0 ? 1 : scale ** Math.log2(measured.terms / termsAtHalf);
  const textBytes = scale * measured.textBytes;
  const postingBytes = scale * measured.postingBytes;
  const dictionaryBytes = growth * (measured.termBytes + measured.blockBytes);
  const perPassage = count * (LENGTH_BYTES + START_BYTES + ID_BYTES);
  const content = textBytes + postingBytes + dictionaryBytes + perPassage;
  const checksums = (4 * content) / PAGE_BYTES;
  return {
    passages: count,
    bytesOnDisk: Math.round(content + checksums + MANIFEST_BYTES),
    textBytes: Math.round(textBytes),
    temporaryBytes: Math.round(scale * measured.runBytes),
    residentBytes: Math.round(
      count * LENGTH_BYTES +
        checksums +
        3 * growth * measured.blockBytes +
        Math.min(cacheLimit(postingBytes), 2 * postingBytes) +
        // Mostly Latin letters, one byte each.
        Math.min(RECENT_UNITS, textBytes),
    ),
    seconds: (measured.ms / 1000) * scale,
    sampled: measured.passages,
  };
}

const LENGTH_BYTES = 4;
const START_BYTES = 8;
const ID_BYTES = 12;
const MANIFEST_BYTES = 1900;

/** Limits of an index; absent ones are not checked. */
interface IndexLimits {
  /** Output folder, whose free disk space and the free memory are the limits. */
  out?: string | undefined;
  /** Bytes of memory, instead of the free memory. */
  maxMemory?: number | undefined;
  /** Bytes of disk, instead of the free space. */
  maxDisk?: number | undefined;
}

/**
 * Rejects an index that does not fit, with its size and the number of passages that would fit.
 * @throws {ConfigError} INDEX_TOO_LARGE
 */
export async function refuseUnlessFits(
  plan: IndexPlan,
  { out, maxMemory, maxDisk }: IndexLimits,
): Promise<void> {
  const isPlaced = out !== undefined;
  const disk = maxDisk ?? (isPlaced ? await freeDiskBytes(out) : Infinity);
  const memory = maxMemory ?? (isPlaced ? availableMemory() : Infinity);
  const wanted = plan.bytesOnDisk + plan.temporaryBytes;
  if (wanted > disk)
    throw tooLarge(plan, {
      wanted,
      limit: disk,
      what: "of disk during the build",
      more: `; afterwards ${formatBytes(plan.bytesOnDisk)}`,
    });
  if (plan.residentBytes > memory)
    throw tooLarge(plan, {
      wanted: plan.residentBytes,
      limit: memory,
      what: "of memory once opened",
      more: "",
    });
}

function tooLarge(
  { passages }: IndexPlan,
  { wanted, limit, what, more }: { wanted: number; limit: number; what: string; more: string },
): ConfigError {
  // Rounded down to two digits, because it is an estimate.
  const share = Math.floor((passages * limit) / wanted);
  const unit = 10 ** Math.max(0, String(share).length - 2);
  const fitting = Math.floor(share / unit) * unit;
  return new ConfigError(
    "INDEX_TOO_LARGE",
    `the index of ${passages} passages needs ${formatBytes(wanted)} ${what}${more}, but only ${formatBytes(limit)} are available. About ${fitting} of its passages would fit: index a part of the corpus, or use a larger disk or machine.`,
  );
}
