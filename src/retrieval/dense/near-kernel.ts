/**
 * The inner loop of a graph's search as a WebAssembly module with 128-bit SIMD: inner products of one query with four
 * vectors at a time, wherever in memory they lie, so that four memory accesses are under way at once.
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

/** Vectors that one turn of the kernel compares. */
export const NEAR_LANES = 4;

/** What the module exports. */
export interface NearKernel {
  /**
   * Writes the inner products of a query with vectors.
   *
   * @param addresses address of 4 · `turns` addresses (u32) of vectors, f32 each.
   * @param turns at least 1.
   * @param query address of the query; its end is the parameter after it.
   * @param scores address of [turns, 4] f32.
   */
  near: (addresses: number, turns: number, query: number, queryEnd: number, scores: number) => void;
}

// Parameters and locals of the function, by number.
const [ADDRESSES, TURNS, QUERY, QUERY_END, SCORES, AT, X, SUMS] = [
  0, 1, 2, 3, 4, 5, 10, 11,
] as const;

/** Address of each of the four vectors. */
const VECTORS = 6;

/** How the vectors that are compared are kept: as they are, or as bytes that whole numbers of 16 bits are multiplied with. */
export type NearStorage = "f32" | "int8";

/** Numbers that the kernel reads at a time: query and bytes are filled up with zeros to a multiple of them. */
export function nearStep(storage: NearStorage, dimensions: number): number {
  if (storage === "int8") return 16;
  return [16, 8].find((step) => dimensions % step === 0) ?? 4;
}

/** @returns the module for vectors of so many dimensions; it imports its memory as `env.memory`. */
export function nearKernelModule(
  storage: NearStorage,
  dimensions: number,
): Uint8Array<ArrayBuffer> {
  const isWhole = storage === "int8";
  const step = nearStep(storage, dimensions);
  // One instruction takes four f32, or eight bytes and eight numbers of the query.
  const parts = Array.from({ length: step / (isWhole ? 8 : 4) }, (_, part) => part);
  const load = isWhole ? simd(1) : simd(0); // v128.load8x8_s, v128.load
  const multiplyAdd = isWhole ? [...simd(0xba), ...simd(0xae)] : [...simd(0xe6), ...simd(0xe4)];
  const lanes = [0, 1, 2, 3];
  const vectorBytes = step * (isWhole ? 1 : 4);
  const code = loop([
    ...lanes.flatMap((lane) => [
      ...[...get(ADDRESSES), 0x28, ...at(4 * lane, 2), ...set(VECTORS + lane)], // i32.load
      ...[...ZERO, ...set(SUMS + lane)],
    ]),
    ...[...get(QUERY), ...set(AT)],
    ...loop([
      ...parts.flatMap((part) => [
        ...[...get(AT), ...simd(0), ...at(16 * part), ...set(X)],
        ...lanes.flatMap((lane) => [
          ...[...get(SUMS + lane), ...get(X), ...get(VECTORS + lane)],
          ...[
            ...load,
            ...at((vectorBytes / parts.length) * part),
            ...multiplyAdd,
            ...set(SUMS + lane),
          ],
        ]),
      ]),
      ...lanes.flatMap((lane) => [
        ...[...get(VECTORS + lane), ...i32(vectorBytes), ADD, ...set(VECTORS + lane)],
      ]),
      ...[...get(AT), ...i32(16 * parts.length), ADD, ...tee(AT), ...get(QUERY_END), LESS],
    ]),
    ...lanes.flatMap((lane) => [
      ...[...get(SCORES), ...total(SUMS + lane, isWhole), 0x38, ...at(4 * lane, 2)],
    ]),
    ...[...get(ADDRESSES), ...i32(4 * NEAR_LANES), ADD, ...set(ADDRESSES)],
    ...[...get(SCORES), ...i32(4 * NEAR_LANES), ADD, ...set(SCORES)],
    ...[...get(TURNS), ...i32(-1), ADD, ...tee(TURNS)],
  ]);
  const locals = [
    { count: 5, type: I32 },
    { count: 1 + NEAR_LANES, type: V128 },
  ];
  const parameters = [I32, I32, I32, I32, I32];
  return wasmModule([{ name: "near", parameters, results: [], locals, code }], 1);
}

/** The sum over the four parts of a local, as f32. */
function total(sum: number, isWhole: boolean): number[] {
  const part = (index: number): number[] => [...get(sum), ...simd(isWhole ? 0x1b : 0x1f), index];
  const plus = isWhole ? ADD : 0x92;
  const all = [...part(0), ...part(1), plus, ...part(2), ...part(3), plus, plus];
  return isWhole ? [...all, 0xb2] : all; // f32.convert_i32_s
}
