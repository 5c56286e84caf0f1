/**
 * The inner loop of exact search as a WebAssembly module with 128-bit SIMD, written out byte by byte for one vector
 * format: inner products of stored vectors with four queries at a time, so that each stored number is loaded once for
 * four products. Measured against the best plain loop of `dot-products.ts` in docs/adr/0005-dense-retrieval.md.
 */
import {
  ADD,
  at,
  get,
  I32,
  i32,
  LESS,
  loop,
  set,
  simd,
  tee,
  V128,
  wasmModule,
  ZERO,
} from "../../base/wasm.ts";
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
  // Three addresses, the numbers at hand, one sum for each query.
  const locals = [
    { count: 3, type: I32 },
    { count: 1 + LANES, type: V128 },
  ];
  const parameters = [I32, I32, I32, I32];
  return wasmModule([{ name: "dot", parameters, results: [], locals, code: body(format) }], 1);
}

// Parameters and locals of the function, by number.
const [RECORDS, COUNT, QUERIES, SCORES, AT, STOP, QUERY, X, SUMS] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8,
] as const;

function body(format: VectorFormat): number[] {
  const { padded, headBytes, recordBytes } = format;
  const queryStride = queryBytes(format);
  const sums = Array.from({ length: LANES }, (_, lane) => SUMS + lane);
  const perTurn = (recordBytes - headBytes) / (padded / 8);
  return loop([
    ...sums.flatMap((sum) => [...ZERO, ...set(sum)]),
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
