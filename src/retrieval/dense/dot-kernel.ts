/**
 * The inner loop of exact search as a WebAssembly module with 128-bit SIMD, written out byte by byte for one vector
 * format: inner products of stored vectors with four queries at a time, so that each stored number is loaded once for
 * four products. Measured against the best plain loop of `dot-products.ts` in docs/adr/0015-dense-retrieval.md.
 */
import type { VectorFormat } from "./vector-format.ts";

/** Queries that one call of the kernel serves. */
export const LANES = 4;

/** What the module exports. */
export interface DotKernel {
  /**
   * Writes the inner products of `count` records with four queries.
   *
   * @param records address of the first record.
   * @param count at least 1.
   * @param queries address of four queries, `queryBytes` apart.
   * @param scores address of [count, 4] f32.
   */
  dot: (records: number, count: number, queries: number, scores: number) => void;
}

/** Bytes of one query: f32 numbers, or for int8 whole numbers of 16 bits. */
export function queryBytes({ storage, padded }: VectorFormat): number {
  return padded * (storage === "int8" ? 2 : 4);
}

/** @returns the module; it imports its memory as `env.memory`. */
export function dotKernelModule(format: VectorFormat): Uint8Array<ArrayBuffer> {
  const memory = [...text("env"), ...text("memory"), 0x02, 0x00, ...unsigned(1)];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [[0x60, ...vector([[I32], [I32], [I32], [I32]]), 0x00]]), // (i32, i32, i32, i32) → ()
    ...section(2, [memory]),
    ...section(3, [[0x00]]),
    ...section(7, [[...text("dot"), 0x00, 0x00]]),
    ...section(10, [sized([...LOCALS, ...body(format), END])]),
  ]);
}

const I32 = 0x7f;
const V128 = 0x7b;
const END = 0x0b;

// Parameters and locals of the function, by number.
const [RECORDS, COUNT, QUERIES, SCORES, AT, STOP, QUERY, X, SUMS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/** Three addresses, the numbers at hand, one sum for each query. */
const LOCALS = [2, 3, I32, 1 + LANES, V128];

function body(format: VectorFormat): number[] {
  const { padded, headBytes, recordBytes } = format;
  const queryStride = queryBytes(format);
  const sums = Array.from({ length: LANES }, (_, lane) => SUMS + lane);
  const perTurn = (recordBytes - headBytes) / (padded / 8);
  return loop([
    ...sums.flatMap((sum) => [...simd(12), ...new Array<number>(16).fill(0), ...set(sum)]),
    ...[...get(RECORDS), ...i32(headBytes), ADD, ...set(AT)],
    ...[...get(RECORDS), ...i32(recordBytes), ADD, ...set(STOP)],
    ...[...get(QUERIES), ...set(QUERY)],
    ...loop([
      ...eightProducts(format, sums, queryStride),
      ...[...get(QUERY), ...i32(queryStride / (padded / 8)), ADD, ...set(QUERY)],
      ...[...get(AT), ...i32(perTurn), ADD, ...tee(AT)],
      ...[...get(STOP), LESS], // go on while below
    ]),
    ...sums.flatMap((sum, lane) => storeSum(format, sum, lane)),
    ...[...get(STOP), ...set(RECORDS)],
    ...[...get(SCORES), ...i32(4 * LANES), ADD, ...set(SCORES)],
    ...[...get(COUNT), ...i32(-1), ADD, ...tee(COUNT)], // go on while not 0
  ]);
}

/** Adds the products of eight numbers of the record to each query's sum. */
function eightProducts({ storage }: VectorFormat, sums: number[], stride: number): number[] {
  if (storage === "int8") {
    return [
      ...[...get(AT), ...simd(1), ...at(0), ...set(X)], // eight bytes as 16-bit numbers
      ...sums.flatMap((sum, lane) => [
        ...[...get(sum), ...get(X), ...get(QUERY), ...simd(0), ...at(stride * lane)],
        ...[...simd(0xba), ...simd(0xae), ...set(sum)], // i32x4.dot_i16x8_s, i32x4.add
      ]),
    ];
  }
  const width = storage === "f32" ? 16 : 8;
  return [0, 1].flatMap((half) => [
    ...get(AT),
    ...(storage === "f32" ? [...simd(0), ...at(0 + width * half)] : halves(width * half)),
    ...set(X),
    ...sums.flatMap((sum, lane) => [
      ...[...get(sum), ...get(X), ...get(QUERY), ...simd(0), ...at(16 * half + stride * lane)],
      ...[...simd(0xe6), ...simd(0xe4), ...set(sum)], // f32x4.mul, f32x4.add
    ]),
  ]);
}

/**
 * Four IEEE halves as f32: exponent and fraction moved to where f32 has them, times 2¹¹² for the other bias, which is
 * right for subnormals too; then the sign. The address is on the stack; X is used in between.
 */
function halves(offset: number): number[] {
  const splat = (bits: number): number[] => [...i32(bits), ...simd(0x11)];
  return [
    ...[...simd(4), ...at(offset), ...set(X)], // v128.load16x4_u
    ...[...get(X), ...splat(0x7fff), ...simd(0x4e), ...i32(13), ...simd(0xab)],
    ...[...splat(0x77800000), ...simd(0xe6)], // the bits of 2¹¹²; f32x4.mul
    ...[...get(X), ...splat(0x8000), ...simd(0x4e), ...i32(16), ...simd(0xab)],
    ...simd(0x50), // v128.or
  ];
}

/** Writes the sum over the four parts of a query's sum; int8 times the record's scale. */
function storeSum({ storage, recordBytes }: VectorFormat, sum: number, lane: number): number[] {
  const isWhole = storage === "int8";
  const part = (index: number): number[] => [...get(sum), ...simd(isWhole ? 0x1b : 0x1f), index];
  const plus = isWhole ? ADD : 0x92;
  const total = [...part(0), ...part(1), plus, ...part(2), ...part(3), plus, plus];
  const scaled = [0xb2, ...get(STOP), ...i32(-recordBytes), ADD, 0x2a, ...at(0, 2), 0x94];
  return [...get(SCORES), ...total, ...(isWhole ? scaled : []), 0x38, ...at(4 * lane, 2)];
}

const ADD = 0x6a; // i32.add
const LESS = 0x49; // i32.lt_u

function get(local: number | undefined): number[] {
  return [0x20, ...unsigned(local ?? 0)];
}

function set(local: number | undefined): number[] {
  return [0x21, ...unsigned(local ?? 0)];
}

function tee(local: number | undefined): number[] {
  return [0x22, ...unsigned(local ?? 0)];
}

/** i32.const */
function i32(value: number): number[] {
  const bytes: number[] = [];
  let rest = value | 0;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const isLast = (rest === 0 && low < 64) || (rest === -1 && low >= 64);
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return [0x41, ...bytes];
  }
}

/** An instruction of the SIMD table. */
function simd(opcode: number): number[] {
  return [0xfd, ...unsigned(opcode)];
}

/** Where a load or store reads or writes, relative to the address on the stack. */
function at(offset: number, alignment = 0): number[] {
  return [...unsigned(alignment), ...unsigned(offset)];
}

/** Runs the code again as long as it leaves a number other than 0. */
function loop(code: number[]): number[] {
  return [0x03, 0x40, ...code, 0x0d, 0x00, END];
}

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return bytes;
}

function text(value: string): number[] {
  return sized([...new TextEncoder().encode(value)]);
}

function sized(bytes: number[]): number[] {
  return [...unsigned(bytes.length), ...bytes];
}

function vector(items: number[][]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function section(id: number, items: number[][]): number[] {
  return [id, ...sized(vector(items))];
}
