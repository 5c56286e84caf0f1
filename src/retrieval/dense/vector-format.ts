import { floatToHalf, halfToFloat } from "../../base/half.ts";
import type { FileEntry, OutsideContent } from "../store/checked-file.ts";
import type { Scored } from "../top-k.ts";

/** How a number of a vector is stored: 4, 2 or 1 bytes. int8 has one scale per vector. */
export const VECTOR_STORAGES = ["f32", "f16", "int8"] as const;
export type VectorStorage = (typeof VECTOR_STORAGES)[number];

/** How vectors lie in a file and in memory: one record each, little-endian, nothing between them. */
export interface VectorFormat {
  storage: VectorStorage;
  /** D. */
  dimensions: number;
  /** D rounded up to a multiple of 8; what is beyond D is 0. */
  padded: number;
  /** Bytes before the numbers: int8 has its scale (f32) there. */
  headBytes: number;
  recordBytes: number;
}

/** How vectors are compared: by inner product, or by squared distance, whose negative is the score. */
export const METRICS = ["inner-product", "l2"] as const;
export type Metric = (typeof METRICS)[number];

const BYTES: Readonly<Record<VectorStorage, number>> = { f32: 4, f16: 2, int8: 1 };

/** @param dimensions D, at least 1. */
export function vectorFormat(storage: VectorStorage, dimensions: number): VectorFormat {
  const padded = 8 * Math.ceil(dimensions / 8);
  const headBytes = storage === "int8" ? 4 : 0;
  const recordBytes = headBytes + BYTES[storage] * padded;
  return { storage, dimensions, padded, headBytes, recordBytes };
}

/** Vectors in another program's file: f32, without padding. */
interface ForeignVectors extends OutsideContent {
  metric: Metric;
}

/** Where stored vectors are. */
export interface VectorFile {
  path: string;
  entry: FileEntry;
  format: VectorFormat;
  /** Absent: a file of our own, compared by inner product. */
  foreign?: ForeignVectors | undefined;
}

/** Bytes of a vector in its file. */
export function fileRecordBytes({
  format,
  foreign,
}: Pick<VectorFile, "format" | "foreign">): number {
  return foreign === undefined ? format.recordBytes : BYTES.f32 * format.dimensions;
}

/**
 * Vectors as records.
 * @param vectors [n, D], finite. f16 and int8 round to nearest; int8 spans the largest absolute value of its vector.
 */
export function encodeVectors(
  format: VectorFormat,
  vectors: Float32Array,
): Uint8Array<ArrayBuffer> {
  const { storage, dimensions, headBytes, recordBytes } = format;
  const count = vectors.length / dimensions;
  const bytes = new Uint8Array(count * recordBytes);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < count; i++) {
    const vector = vectors.subarray(i * dimensions, (i + 1) * dimensions);
    const at = i * recordBytes + headBytes;
    if (storage === "f32") {
      vector.forEach((x, d) => view.setFloat32(at + 4 * d, x, true));
    } else if (storage === "f16") {
      vector.forEach((x, d) => view.setUint16(at + 2 * d, floatToHalf(x), true));
    } else {
      const scale = int8Scale(vector);
      view.setFloat32(at - headBytes, scale, true);
      vector.forEach((x, d) => view.setInt8(at + d, Math.round(x / scale)));
    }
  }
  return bytes;
}

/** The largest absolute value becomes 127; 1 for a vector of zeros. Rounded as it is stored. */
function int8Scale(vector: Float32Array): number {
  const largest = vector.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  return largest === 0 ? 1 : Math.fround(largest / 127);
}

/** @returns [n, D], the vectors of whole records. */
export function decodeVectors(format: VectorFormat, bytes: Uint8Array): Float32Array {
  const { storage, dimensions, headBytes, recordBytes } = format;
  const count = bytes.length / recordBytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const vectors = new Float32Array(count * dimensions);
  for (let i = 0; i < count; i++) {
    const at = i * recordBytes + headBytes;
    const scale = storage === "int8" ? view.getFloat32(at - headBytes, true) : 1;
    for (let d = 0; d < dimensions; d++)
      vectors[i * dimensions + d] =
        storage === "f32"
          ? view.getFloat32(at + 4 * d, true)
          : storage === "f16"
            ? halfToFloat(view.getUint16(at + 2 * d, true))
            : scale * view.getInt8(at + d);
  }
  return vectors;
}

/** Search among stored vectors, exact or not. */
export interface VectorSearch {
  /** How the hits are found, for people and fingerprints: `flat`, `hnsw …`. */
  readonly kind: string;
  /**
   * @param queries [q, D].
   * @param k hits per query at most.
   * @returns per query, best first; ties by position.
   */
  search(queries: Float32Array, k: number, signal?: AbortSignal): Promise<Scored[][]>;
  close(): Promise<void>;
}
