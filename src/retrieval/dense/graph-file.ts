/**
 * hnswlib's own file (version 0.8, 64-bit little-endian), read into memory that WebAssembly sees: a header of 96 bytes;
 * per vector its links in the lowest layer (count, 2·M ids), its f32 numbers and its label (u64); then per vector the
 * links of its upper layers, with their size in bytes before them.
 */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { errorMessage } from "../../base/errors.ts";
import { corrupt } from "../store/checked-file.ts";

/** A graph in memory. Addresses are in bytes from the start of `memory`. */
export interface LoadedGraph {
  memory: ArrayBuffer;
  count: number;
  /** Where the first vector's record lies, and how far apart records are. */
  records: number;
  recordBytes: number;
  /** Within a record: where the numbers begin, and the label. */
  vectorAt: number;
  labelAt: number;
  topLayer: number;
  entryPoint: number;
  /** Links of a vector in an upper layer (from 1), as [count, ids …]. */
  upperLinks(id: number, layer: number): Uint32Array;
}

const HEADER_BYTES = 96;

/** What a file must be, and where there is room for it. */
export interface GraphSource {
  path: string;
  sha256: string;
  dimensions: number;
  count: number;
  /** Gives memory of at least so many bytes. */
  memoryOf(bytes: number): ArrayBuffer;
  /** Bytes at the start of the memory that are left alone. */
  reserved: number;
}

/**
 * Reads a graph, hashing it on the way.
 * @throws {DataError} INDEX_CORRUPT when it is not what was written.
 */
export async function loadGraph(source: GraphSource): Promise<LoadedGraph> {
  const { path, reserved, dimensions } = source;
  const file = await open(path).catch((error: unknown) => {
    throw corrupt(`${path}: cannot be read (${errorMessage(error)})`, error);
  });
  try {
    const { size } = await file.stat();
    const hash = createHash("sha256");
    const readInto = async (bytes: Uint8Array, position: number): Promise<void> => {
      for (let at = 0; at < bytes.length;) {
        const wanted = Math.min(bytes.length - at, 1 << 24);
        const { bytesRead } = await file.read(bytes, at, wanted, position + at);
        if (bytesRead === 0) throw corrupt(`${path}: ends at byte ${position + at}`);
        hash.update(bytes.subarray(at, at + bytesRead));
        at += bytesRead;
      }
    };
    const head = new Uint8Array(HEADER_BYTES);
    await readInto(head, 0);
    const shape = headerOf(head);
    const expected = 4 * dimensions + 12 + shape.vectorAt - 4;
    if (shape.count !== source.count || shape.recordBytes !== expected)
      throw corrupt(
        `${path}: is not a graph of ${source.count} vectors of ${dimensions} dimensions`,
      );
    const recordsBytes = shape.count * shape.recordBytes;
    // Numbers are read four at a time: up to three beyond the last vector's.
    const memory = source.memoryOf(reserved + recordsBytes + 16);
    await readInto(new Uint8Array(memory, reserved, recordsBytes), HEADER_BYTES);
    const upper = new Uint8Array(size - HEADER_BYTES - recordsBytes);
    await readInto(upper, HEADER_BYTES + recordsBytes);
    if (hash.digest("hex") !== source.sha256) throw corrupt(`${path}: has changed`);
    const links = upperLinks(upper, shape);
    if (links === null) throw corrupt(`${path}: its upper layers end too early`);
    return { memory, records: reserved, ...shape, upperLinks: links };
  } finally {
    await file.close();
  }
}

interface Shape {
  count: number;
  recordBytes: number;
  labelAt: number;
  vectorAt: number;
  topLayer: number;
  entryPoint: number;
  M: number;
}

function headerOf(head: Uint8Array): Shape {
  const view = new DataView(head.buffer);
  const size = (at: number): number => Number(view.getBigUint64(at, true));
  return {
    count: size(16),
    recordBytes: size(24),
    labelAt: size(32),
    vectorAt: size(40),
    topLayer: view.getInt32(48, true),
    entryPoint: view.getUint32(52, true),
    M: size(56),
  };
}

/** One in M vectors has upper layers: where their links begin, by id; null where the bytes are too few. */
function upperLinks(
  bytes: Uint8Array<ArrayBuffer>,
  { count, M }: Shape,
): LoadedGraph["upperLinks"] | null {
  const view = new DataView(bytes.buffer);
  const starts = new Map<number, number>();
  let at = 0;
  for (let id = 0; id < count; id++) {
    const size = at + 4 > bytes.length ? Infinity : view.getUint32(at, true);
    if (at + 4 + size > bytes.length) return null;
    at += 4;
    if (size > 0) starts.set(id, at);
    at += size;
  }
  return (id, layer) => {
    const start = (starts.get(id) ?? 0) + (layer - 1) * 4 * (M + 1);
    return new Uint32Array(bytes.buffer, start, M + 1);
  };
}
