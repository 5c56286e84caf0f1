import type { CheckedFile } from "../store/checked-file.ts";
import { type Scored, topK, type TopK } from "../top-k.ts";
import {
  type BlockMaker,
  blockMaker,
  MAX_QUERIES,
  MAX_TILE,
  type VectorBlock,
  LANES,
} from "./dot-products.ts";
import { fileRecordBytes, type VectorFile } from "./vector-format.ts";

interface ScanOptions extends Pick<VectorFile, "format" | "foreign"> {
  /** Positions from … up to. */
  from: number;
  to: number;
  /** Hold the vectors in memory; otherwise each search reads them from the file again, 16 MiB at a time. */
  resident: boolean;
}

interface VectorScan {
  /**
   * @param queries [q, D].
   * @returns per query the k best by the file's metric, best first, ties by position.
   * @throws {DataError} INDEX_CORRUPT when it reads a damaged page.
   */
  search(queries: Float32Array, k: number): Scored[][];
}

/** Bytes of vectors read and checked at once. */
export const CHUNK_BYTES = 1 << 24;

/**
 * Opens a scan over a file of records; a resident one reads and checks them all now.
 * @throws {DataError} INDEX_CORRUPT
 */
export function openVectorScan(file: CheckedFile, options: ScanOptions): VectorScan {
  const { format, foreign, from, to, resident } = options;
  const fileBytes = fileRecordBytes(options);
  const perChunk = Math.max(1, Math.floor(CHUNK_BYTES / format.recordBytes));
  const maker = blockMaker(format, { metric: foreign?.metric });
  const chunks = Array.from({ length: Math.ceil((to - from) / perChunk) }, (_, i) => {
    const start = from + i * perChunk;
    return { start, count: Math.min(perChunk, to - start) };
  });
  const load = (block: VectorBlock, { start, count }: Chunk): VectorBlock => {
    const content = file.read(start * fileBytes, (start + count) * fileBytes);
    if (fileBytes === format.recordBytes) block.records.set(content);
    else spread(content, fileBytes, { into: block.records, recordBytes: format.recordBytes });
    return block;
  };
  const held = resident ? chunks.map((chunk) => load(maker.make(chunk.count), chunk)) : null;
  let reused: VectorBlock | null = null;
  const blockOf = (i: number): VectorBlock =>
    held?.[i] ?? load((reused ??= makeLargest(maker, chunks)), chunks[i]!);
  return {
    search(queries, k) {
      const count = queries.length / format.dimensions;
      const selections = Array.from({ length: count }, () => topK(k, -Infinity));
      chunks.forEach((chunk, i) =>
        scanChunk(blockOf(i), chunk, { queries, dimensions: format.dimensions, selections }),
      );
      return selections.map((selection) => selection.take());
    },
  };
}

/** Vectors without padding as records; what is beyond them stays 0. */
function spread(
  content: Uint8Array,
  fileBytes: number,
  { into, recordBytes }: { into: Uint8Array; recordBytes: number },
): void {
  for (let i = 0; i * fileBytes < content.length; i++)
    into.set(content.subarray(i * fileBytes, (i + 1) * fileBytes), i * recordBytes);
}

/** Records that are in a block: the position of the first, and how many. */
interface Chunk {
  start: number;
  count: number;
}

/** Queries [q, D] and what each has selected. */
interface Asked {
  queries: Float32Array;
  dimensions: number;
  selections: TopK[];
}

/** Offers every record of a chunk to every query's selection. */
export function scanChunk(
  block: VectorBlock,
  chunk: Chunk,
  { queries, dimensions, selections }: Asked,
): void {
  for (let first = 0; first < selections.length; first += MAX_QUERIES) {
    const last = Math.min(selections.length, first + MAX_QUERIES);
    block.setQueries(queries.subarray(first * dimensions, last * dimensions));
    scanBlock(block, chunk, selections.slice(first, last));
  }
}

function makeLargest(maker: BlockMaker, chunks: readonly Chunk[]): VectorBlock {
  return maker.make(chunks[0]?.count ?? 0);
}

/** A tile of records stays in the processor's cache while all queries pass over it. */
function scanBlock(block: VectorBlock, { start, count }: Chunk, selections: TopK[]): void {
  for (let from = 0; from < count; from += MAX_TILE) {
    const size = Math.min(MAX_TILE, count - from);
    for (let group = 0; LANES * group < selections.length; group++) {
      const scores = block.scores(from, size, group);
      for (let lane = 0; lane < LANES; lane++) {
        const selection = selections[LANES * group + lane];
        if (selection !== undefined) offerAll(selection, start + from, scores, lane);
      }
    }
  }
}

function offerAll(selection: TopK, start: number, scores: Float32Array, lane: number): void {
  let { threshold } = selection;
  for (let i = lane; i < scores.length; i += LANES) {
    if (scores[i]! <= threshold) continue;
    selection.offer(start + (i - lane) / LANES, scores[i]!);
    ({ threshold } = selection);
  }
}

export interface ScanStart extends ScanOptions, VectorFile {}

export interface ScanRequest {
  queries: Float32Array;
  k: number;
}

/** The hits of all queries, one after the other. */
export interface PackedHits {
  counts: Uint32Array;
  positions: Float64Array;
  scores: Float64Array;
}
