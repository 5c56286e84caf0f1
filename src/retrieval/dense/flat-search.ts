import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { errorMessage, ExternalError, receiveError } from "../../base/errors.ts";
import { type FileEntry, openCheckedFile } from "../store/checked-file.ts";
import type { Scored } from "../top-k.ts";
import { MAX_QUERIES } from "./dot-products.ts";
import { type ScanReply, type ScanRequest, type ScanStart, openVectorScan } from "./vector-scan.ts";
import type { VectorFormat, VectorSearch } from "./vector-format.ts";

export interface VectorFile {
  path: string;
  entry: FileEntry;
  format: VectorFormat;
}

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
  { path, entry, format }: VectorFile,
  { threads, resident = true }: FlatOptions = {},
): Promise<VectorSearch> {
  const count = entry.bytes / format.recordBytes;
  const wanted = threads ?? (entry.bytes < SINGLE_THREAD_BYTES ? 0 : availableParallelism());
  const workers = Math.min(wanted, count);
  if (workers === 0) return localSearch({ path, entry, format, from: 0, to: count, resident });
  const shares = Array.from({ length: workers }, (_, i) => {
    const [from, to] = [i, i + 1].map((part) => Math.floor((part * count) / workers));
    return startShare({ path, entry, format, from: from!, to: to!, resident });
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
  return { kind: "flat", search: inTurn(batched(search, format.dimensions)), close };
}

function localSearch({ path, entry, ...options }: ScanStart): VectorSearch {
  const file = openCheckedFile(path, entry);
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

/** One search at a time: answers carry no number. */
function inTurn(search: Search): Search {
  let last: Promise<unknown> = Promise.resolve();
  return (queries, k, signal) => {
    const result = last.then(() => search(queries, k, signal));
    last = result.catch(() => undefined);
    return result;
  };
}

interface Share {
  ready: Promise<void>;
  search(request: ScanRequest): Promise<Scored[][]>;
  close(): Promise<void>;
}

/** Worker threads run compiled code: from the sources (tests), the build beside them is used. */
const workerEntry = new URL(
  "./scan-worker.js",
  import.meta.url.replace(/\/src\/(retrieval\/dense\/[^/]*)$/, "/dist/$1"),
);

function startShare(start: ScanStart): Share {
  const worker = new Worker(workerEntry, { workerData: start });
  let waiting: { resolve: (reply: ScanReply) => void; reject: (error: Error) => void } | null =
    null;
  let ended: Error | null = null;
  const fail = (why: string, cause?: unknown): void => {
    ended ??= new ExternalError("RUNTIME_FAILED", `${start.path}: a search thread ${why}.`, {
      cause,
    });
    waiting?.reject(ended);
    waiting = null;
  };
  worker.on("message", (reply: ScanReply) => {
    const asked = waiting;
    waiting = null;
    if (!("failure" in reply)) asked?.resolve(reply);
    else {
      const { failure } = reply;
      asked?.reject(receiveError(failure) ?? failed(start, failure.message));
    }
  });
  worker.on("error", (error) => fail(`failed (${errorMessage(error)})`, error));
  worker.on("exit", () => fail("ended"));
  const next = (): Promise<ScanReply> =>
    new Promise((resolve, reject) => {
      if (ended !== null) reject(ended);
      else waiting = { resolve, reject };
    });
  return {
    ready: next().then(() => undefined),
    search: async (request) => {
      const reply = next();
      worker.postMessage(request);
      return unpacked(await reply);
    },
    close: async () => {
      await worker.terminate();
    },
  };
}

function failed(start: ScanStart, message: string): ExternalError {
  return new ExternalError(
    "RUNTIME_FAILED",
    `${start.path}: a search thread failed (${message}). If memory ran out, open the index with fewer resident vectors.`,
  );
}

function unpacked(reply: ScanReply): Scored[][] {
  if (!("counts" in reply)) return [];
  const { counts, positions, scores } = reply;
  let at = 0;
  return Array.from(counts, (count) => {
    const hits = Array.from({ length: count }, (_, i) => {
      return { position: positions[at + i]!, score: scores[at + i]! };
    });
    at += count;
    return hits;
  });
}
