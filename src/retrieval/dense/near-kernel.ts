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
} from "./wasm-code.ts";

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
const [ADDRESSES, TURNS, QUERY, QUERY_END, SCORES, AT, X, SUMS] = [0, 1, 2, 3, 4, 5, 10, 11];

/** Address of each of the four vectors. */
const VECTORS = 6;

/** Numbers that the kernel reads at a time: the query is filled up with zeros to a multiple of them. */
export function nearStep(dimensions: number): number {
  return [16, 8].find((step) => dimensions % step === 0) ?? 4;
}

/** @returns the module for vectors of so many dimensions; it imports its memory as `env.memory`. */
export function nearKernelModule(dimensions: number): Uint8Array<ArrayBuffer> {
  const bytes = 4 * nearStep(dimensions);
  const parts = Array.from({ length: bytes / 16 }, (_, part) => 16 * part);
  const lanes = [0, 1, 2, 3];
  const code = loop([
    ...lanes.flatMap((lane) => [
      ...[...get(ADDRESSES), 0x28, ...at(4 * lane, 2), ...set(VECTORS + lane)], // i32.load
      ...[...simd(12), ...new Array<number>(16).fill(0), ...set(SUMS + lane)],
    ]),
    ...[...get(QUERY), ...set(AT)],
    ...loop([
      ...parts.flatMap((part) => [
        ...[...get(AT), ...simd(0), ...at(part), ...set(X)],
        ...lanes.flatMap((lane) => [
          ...[...get(SUMS + lane), ...get(X), ...get(VECTORS + lane), ...simd(0), ...at(part)],
          ...[...simd(0xe6), ...simd(0xe4), ...set(SUMS + lane)], // f32x4.mul, f32x4.add
        ]),
      ]),
      ...lanes.flatMap((lane) => [
        ...[...get(VECTORS + lane), ...i32(bytes), ADD, ...set(VECTORS + lane)],
      ]),
      ...[...get(AT), ...i32(bytes), ADD, ...tee(AT), ...get(QUERY_END), LESS],
    ]),
    ...lanes.flatMap((lane) => [...get(SCORES), ...total(SUMS + lane), 0x38, ...at(4 * lane, 2)]),
    ...[...get(ADDRESSES), ...i32(4 * NEAR_LANES), ADD, ...set(ADDRESSES)],
    ...[...get(SCORES), ...i32(4 * NEAR_LANES), ADD, ...set(SCORES)],
    ...[...get(TURNS), ...i32(-1), ADD, ...tee(TURNS)],
  ]);
  const locals = [
    [5, I32],
    [1 + NEAR_LANES, V128],
  ] as const;
  return wasmModule({ name: "near", parameters: 5, locals, code });
}

/** The sum over the four parts of a local. */
function total(sum: number): number[] {
  const part = (index: number): number[] => [...get(sum), ...simd(0x1f), index];
  return [...part(0), ...part(1), 0x92, ...part(2), ...part(3), 0x92, 0x92]; // f32.add
}
