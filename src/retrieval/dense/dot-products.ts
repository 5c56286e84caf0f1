import {
  MEMORY_PAGE_BYTES,
  reserveMemory,
  webAssembly as wasm,
  type WebAssemblyApi,
  wasmModule,
} from "../../base/wasm.ts";
import { dotKernel } from "../kernels.ts";
import {
  decodeVectors,
  type Metric,
  type VectorFormat,
  type VectorStorage,
} from "./vector-format.ts";

/** Queries that one call of the kernel serves. */
export const LANES = 4;

/** Queries that one `VectorBlock` holds at a time. */
export const MAX_QUERIES = 32;

/** Records whose scores one call gives. */
export const MAX_TILE = 64;

/** Some stored vectors outside the JavaScript heap, and queries to compare them with. */
export interface VectorBlock {
  /** Room for records, to be filled by the caller. */
  readonly records: Uint8Array<ArrayBuffer>;
  /** @param queries [q, D] with q up to MAX_QUERIES; they stay until the next call. */
  setQueries(queries: Float32Array): void;
  /**
   * Scores of records for four queries: inner products, or squared distances with a minus.
   *
   * @param from first record.
   * @param count up to MAX_TILE.
   * @param group queries 4·group to 4·group + 3; the scores of those that were not set have no meaning.
   * @returns [count, 4], valid until the next call.
   */
  scores(from: number, count: number, group: number): Float32Array;
}

/** Makes blocks of one format; the code is compiled once. */
export interface BlockMaker {
  /** Which code runs: WebAssembly, or plain loops where it is switched off (`node --jitless`). */
  readonly code: "simd" | "plain";
  /** @param capacity records. At most 2 GiB in all. */
  make(capacity: number): VectorBlock;
}

interface BlockOptions {
  /** Default: inner-product. `l2` has a kernel for f32 alone. */
  metric?: Metric | undefined;
  /** Chosen by the machine; a test names it. */
  code?: BlockMaker["code"];
}

export function blockMaker(
  format: VectorFormat,
  { metric = "inner-product", code = "simd" }: BlockOptions = {},
): BlockMaker {
  const hasKernel = metric === "inner-product" || format.storage === "f32";
  if (wasm === undefined || code === "plain" || !hasKernel)
    return { code: "plain", make: (capacity) => plainBlock({ format, metric, capacity }) };
  const api = wasm;
  const compiled = wasmModule(api, dotKernel);
  return { code, make: (capacity) => simdBlock(api, { format, metric, compiled, capacity }) };
}

/** The functions of dot.wat, each for one storage. Addresses and `recordBytes` are in bytes. */
type DotKernel = Record<
  (typeof KERNEL_NAMES)[VectorStorage] | "l2F32",
  (records: number, count: number, queries: number, scores: number, recordBytes: number) => void
>;

const KERNEL_NAMES = { f32: "dotF32", f16: "dotF16", int8: "dotInt8" } as const;

/** Bytes of one query: f32 numbers, or for int8 whole numbers of 16 bits. */
function queryBytes({ storage, padded }: VectorFormat): number {
  return padded * (storage === "int8" ? 2 : 4);
}

/** Memory of a block: queries, scores of a tile, records. */
function scoresAt(format: VectorFormat): number {
  return MAX_QUERIES * queryBytes(format);
}

function recordsAt(format: VectorFormat): number {
  return scoresAt(format) + 4 * MAX_TILE * LANES;
}

interface PlainBlock {
  format: VectorFormat;
  metric: Metric;
  capacity: number;
}

interface SimdBlock extends PlainBlock {
  compiled: object;
}

function simdBlock(
  api: WebAssemblyApi,
  { format, metric, compiled, capacity }: SimdBlock,
): VectorBlock {
  const { recordBytes } = format;
  const bytes = recordsAt(format) + capacity * recordBytes;
  const memory = reserveMemory(api, Math.ceil(bytes / MEMORY_PAGE_BYTES));
  if (memory === null) return plainBlock({ format, metric, capacity });
  const { exports } = new api.Instance(compiled, { env: { memory } });
  const name = metric === "l2" ? "l2F32" : KERNEL_NAMES[format.storage];
  const dot = (exports as unknown as DotKernel)[name];
  const records = new Uint8Array(memory.buffer, recordsAt(format), capacity * recordBytes);
  const scores = new Float32Array(memory.buffer, scoresAt(format), MAX_TILE * LANES);
  const setQueries = querySetter(format, memory.buffer);
  let scales: Float32Array | null = null;
  return {
    records,
    setQueries(queries) {
      scales = setQueries(queries);
    },
    scores(from, count, group) {
      const query = group * LANES * queryBytes(format);
      dot(recordsAt(format) + from * recordBytes, count, query, scoresAt(format), recordBytes);
      const wanted = scores.subarray(0, count * LANES);
      if (scales !== null) {
        for (let i = 0; i < wanted.length; i++) wanted[i]! *= scales[group * LANES + (i % LANES)]!;
      }
      return wanted;
    },
  };
}

/** Numbers of an int8 query are rounded to 12 bits: sums over 8 192 dimensions then fit 32. */
const INT8_QUERY_STEPS = 2047;

/** @returns writes queries where the kernel reads them; gives the scale of each, or null where there is none. */
function querySetter(
  format: VectorFormat,
  buffer: ArrayBuffer,
): (queries: Float32Array) => Float32Array | null {
  const { storage, dimensions, padded } = format;
  const room = padded * MAX_QUERIES;
  const isWhole = storage === "int8";
  const numbers = isWhole ? new Int16Array(buffer, 0, room) : new Float32Array(buffer, 0, room);
  const scales = new Float32Array(MAX_QUERIES);
  return (queries) => {
    numbers.fill(0);
    for (let q = 0; q * dimensions < queries.length; q++) {
      const query = queries.subarray(q * dimensions, (q + 1) * dimensions);
      if (isWhole) {
        const largest = query.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
        scales[q] = largest / INT8_QUERY_STEPS;
        if (largest === 0) continue;
        const whole = query.map((x) => Math.round((x / largest) * INT8_QUERY_STEPS));
        writeInterleaved(numbers, whole, { q, padded });
      } else {
        writeInterleaved(numbers, query, { q, padded });
      }
    }
    return isWhole ? scales : null;
  };
}

/** Writes a query where the kernel reads it: four queries lie together, the first 16 bytes of each, then the next 16 of each. */
function writeInterleaved(
  numbers: Int16Array | Float32Array,
  query: Float32Array,
  { q, padded }: { q: number; padded: number },
): void {
  const width = 16 / numbers.BYTES_PER_ELEMENT;
  const first = (q - (q % LANES)) * padded + (q % LANES) * width;
  for (let d = 0; d < query.length; d++) {
    const within = d % width;
    numbers[first + (d - within) * LANES + within] = query[d]!;
  }
}

/** The same in plain loops, sums in float64: what the kernel is compared with, and what runs where there is none. */
function plainBlock({ format, metric, capacity }: PlainBlock): VectorBlock {
  const scoreFour = metric === "l2" ? distanceFour : dotFour;
  const { dimensions, recordBytes } = format;
  const records = new Uint8Array(capacity * recordBytes);
  const queries = new Float32Array(MAX_QUERIES * dimensions);
  const scores = new Float32Array(MAX_TILE * LANES);
  return {
    records,
    setQueries(given) {
      queries.fill(0);
      queries.set(given);
    },
    scores(from, count, group) {
      const tile = records.subarray(from * recordBytes, (from + count) * recordBytes);
      const vectors = decodeVectors(format, tile);
      const four = queries.subarray(group * LANES * dimensions, (group + 1) * LANES * dimensions);
      for (let i = 0; i < count; i++)
        scoreFour(vectors.subarray(i * dimensions), four, scores.subarray(i * LANES));
      return scores.subarray(0, count * LANES);
    },
  };
}

function dotFour(vector: Float32Array, queries: Float32Array, scores: Float32Array): void {
  const length = queries.length / LANES;
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < length; i++) {
    const x = vector[i]!;
    a += x * queries[i]!;
    b += x * queries[length + i]!;
    c += x * queries[2 * length + i]!;
    d += x * queries[3 * length + i]!;
  }
  scores[0] = a;
  scores[1] = b;
  scores[2] = c;
  scores[3] = d;
}

function distanceFour(vector: Float32Array, queries: Float32Array, scores: Float32Array): void {
  const length = queries.length / LANES;
  for (let lane = 0; lane < LANES; lane++) {
    let sum = 0;
    for (let i = 0; i < length; i++) sum += (vector[i]! - queries[lane * length + i]!) ** 2;
    scores[lane] = 0 - sum; // never −0
  }
}
