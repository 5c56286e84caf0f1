import { availableParallelism } from "node:os";
import { errorMessage, ExternalError } from "../../base/errors.ts";
import { openCheckedFile } from "../store/checked-file.ts";
import { startThread } from "../thread.ts";
import type { Scored } from "../top-k.ts";
import { MAX_QUERIES } from "./dot-products.ts";
import {
  openVectorScan,
  type PackedHits,
  type ScanRequest,
  type ScanStart,
} from "./vector-scan.ts";
import { fileRecordBytes, type VectorFile, type VectorSearch } from "./vector-format.ts";

/** How exact search runs. */
export interface FlatOptions {
  /** Default: one per core, none for less than 16 MiB of vectors; 0 scans in the calling thread. */
  threads?: number;
  /** Vectors held in memory (default), or read from the file by every batch of queries. */
  resident?: boolean;
}

/** Below this the threads cost more than they gain. */
const SINGLE_THREAD_BYTES = 1 << 24;

/** Queries sent to the threads at once: an abort waits for no more. */
const BATCH = 4 * MAX_QUERIES;

/**
 * Exact search over all stored vectors, each thread over its share of them.
 *
 * @throws {DataError} INDEX_CORRUPT; resident vectors are all read and checked on opening.
 * @throws {ExternalError} RUNTIME_FAILED when a thread ends or cannot have the memory.
 */
export async function openFlatSearch(
  file: VectorFile,
  { threads, resident = true }: FlatOptions = {},
): Promise<VectorSearch> {
  const { entry, format } = file;
  const count = entry.bytes / fileRecordBytes(file);
  const wanted = threads ?? (entry.bytes < SINGLE_THREAD_BYTES ? 0 : availableParallelism());
  const workers = Math.min(wanted, count);
  if (workers === 0) return localSearch({ ...file, from: 0, to: count, resident });
  const shares = Array.from({ length: workers }, (_, i) => {
    const [from, to] = [i, i + 1].map((part) => Math.floor((part * count) / workers));
    return startShare({ ...file, from: from!, to: to!, resident });
  });
  const close = async (): Promise<void> => {
    await Promise.all(shares.map((share) => share.close()));
  };
  try {
    await Promise.all(shares.map((share) => share.ready));
  } catch (error) {
    await close();
    throw error;
  }
  const search = async (queries: Float32Array, k: number): Promise<Scored[][]> => {
    const parts = await Promise.all(shares.map((share) => share.search({ queries, k })));
    return Array.from({ length: queries.length / format.dimensions }, (_, q) =>
      best(
        parts.map((part) => part[q]!),
        k,
      ),
    );
  };
  return { kind: "flat", search: batched(search, format.dimensions), close };
}

function localSearch({ path, entry, ...options }: ScanStart): VectorSearch {
  const file = openCheckedFile(path, entry, options.foreign);
  const scan = openVectorScan(file, options);
  if (options.resident) file.close();
  return {
    kind: "flat",
    search: batched(
      (queries, k) => Promise.resolve(scan.search(queries, k)),
      options.format.dimensions,
    ),
    close: () => {
      if (!options.resident) file.close();
      return Promise.resolve();
    },
  };
}

/** The k best of several lists that are sorted and come in the order of their positions. */
function best(lists: readonly Scored[][], k: number): Scored[] {
  return lists
    .flat()
    .sort((a, b) => b.score - a.score || a.position - b.position)
    .slice(0, k);
}

type Search = VectorSearch["search"];

function batched(
  search: (queries: Float32Array, k: number) => Promise<Scored[][]>,
  width: number,
): Search {
  return async (queries, k, signal) => {
    const hits: Scored[][] = [];
    for (let at = 0; at < queries.length; at += BATCH * width) {
      signal?.throwIfAborted();
      hits.push(...(await search(queries.subarray(at, at + BATCH * width), k)));
    }
    return hits;
  };
}

function startShare(start: ScanStart): {
  ready: Promise<unknown>;
  search(request: ScanRequest): Promise<Scored[][]>;
  close(): Promise<void>;
} {
  const failed = (how: string, cause?: unknown): ExternalError =>
    new ExternalError("RUNTIME_FAILED", `${start.path}: a search thread ${how}`, { cause });
  const { ask, close } = startThread<PackedHits | null>("./dense/scan-worker.js", start, {
    ended: (cause) =>
      cause instanceof Error ? failed(`failed (${errorMessage(cause)}).`, cause) : failed("ended."),
    foreign: ({ message }) =>
      failed(`failed (${message}). If memory ran out, open the index with fewer resident vectors.`),
  });
  return { ready: ask("open"), search: async (request) => unpacked((await ask(request))!), close };
}

function unpacked({ counts, positions, scores }: PackedHits): Scored[][] {
  let at = 0;
  return Array.from(counts, (count) =>
    Array.from({ length: count }, () => ({ position: positions[at]!, score: scores[at++]! })),
  );
}
