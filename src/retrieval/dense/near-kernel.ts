/**
 * The inner loops of a graph's search as a WebAssembly module with 128-bit SIMD: inner products of one query with four
 * vectors at a time, wherever in memory they lie, so that four memory accesses are under way at once; and the step from
 * one vector to its neighbours, which compares those that were not met before and leaves out what is not near enough.
 */
import {
  ADD,
  at,
  call,
  F32,
  get,
  I32,
  i32,
  LESS,
  loop,
  set,
  simd,
  tee,
  V128,
  type WasmFunction,
  wasmModule,
  when,
  ZERO,
} from "../../base/wasm.ts";

/** Vectors that one turn of the kernel compares. */
export const NEAR_LANES = 4;

/** What the module exports. */
export interface NearKernel {
  /**
   * Writes the inner products of the query with the vectors that are listed, to `scores`.
   * @param turns at least 1: so many times four vectors are compared.
   */
  near: (turns: number) => void;
  /**
   * Compares the query with a vector's neighbours that are not marked yet, and marks them. Those of a score above the
   * floor are listed then, with their scores.
   *
   * @param links address of [count, ids …], the count in 16 bits.
   * @param next that of the vector which will probably be the next: its links are fetched meanwhile.
   * @param mark 1 to 255.
   * @returns how many are listed.
   */
  expand: (links: number, next: number, mark: number, floor: number) => number;
}

/** Where in memory things lie, in bytes from its start. */
export interface NearPlaces {
  /** Ids (u32) of the vectors to compare, and room for three more. */
  ids: number;
  /** f32, as many. */
  scores: number;
  query: number;
  queryEnd: number;
  /** The first vector, and how far apart they are. */
  vectors: number;
  stride: number;
  /** What each vector's score is multiplied with (f32); null where there is nothing of the kind. */
  scales: number | null;
  /** A byte of each vector. */
  marks: number;
  /** Bytes of a vector's links. */
  linkBytes: number;
  /** A word that nothing is read from. */
  touched: number;
}

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
  places: NearPlaces,
): Uint8Array<ArrayBuffer> {
  const step = nearStep(storage, dimensions);
  return wasmModule([nearFunction(storage, step, places), expandFunction(places)], 1);
}

const MULTIPLY = 0x6c; // i32.mul
const SHIFT_LEFT = 0x74; // i32.shl
const SHIFT_RIGHT = 0x76; // i32.shr_u
const LOAD = [0x28, ...at(0, 2)]; // i32.load
const lanes = [0, 1, 2, 3];

// Parameters and locals of near, by number.
const [TURNS, IDS, SCORES, AT, VECTORS, X, SUMS] = [0, 1, 2, 3, 4, 8, 9] as const;

function nearFunction(storage: NearStorage, step: number, places: NearPlaces): WasmFunction {
  const isWhole = storage === "int8";
  // One instruction takes four f32, or eight bytes and eight numbers of the query.
  const parts = Array.from({ length: step / (isWhole ? 8 : 4) }, (_, part) => part);
  const load = isWhole ? simd(1) : simd(0); // v128.load8x8_s, v128.load
  const multiplyAdd = isWhole ? [...simd(0xba), ...simd(0xae)] : [...simd(0xe6), ...simd(0xe4)];
  const partBytes = isWhole ? 8 : 16;
  const idOf = (lane: number): number[] => [...get(IDS), 0x28, ...at(4 * lane, 2)]; // i32.load
  const addressOf = (lane: number): number[] => [
    ...[...idOf(lane), ...i32(places.stride), MULTIPLY, ...i32(places.vectors), ADD],
  ];
  const { scales } = places;
  const scaled = (lane: number): number[] =>
    // f32.load, f32.mul
    scales === null ? [] : [...idOf(lane), ...i32(2), SHIFT_LEFT, 0x2a, ...at(scales, 2), 0x94];
  const code = [
    ...[...i32(places.ids), ...set(IDS), ...i32(places.scores), ...set(SCORES)],
    ...loop([
      ...lanes.flatMap((lane) => [
        ...addressOf(lane),
        ...[...set(VECTORS + lane), ...ZERO, ...set(SUMS + lane)],
      ]),
      ...[...i32(places.query), ...set(AT)],
      ...loop([
        ...parts.flatMap((part) => [
          ...[...get(AT), ...simd(0), ...at(16 * part), ...set(X)],
          ...lanes.flatMap((lane) => [
            ...[...get(SUMS + lane), ...get(X), ...get(VECTORS + lane)],
            ...[...load, ...at(partBytes * part), ...multiplyAdd, ...set(SUMS + lane)],
          ]),
        ]),
        ...lanes.flatMap((lane) => [
          ...[...get(VECTORS + lane), ...i32(partBytes * parts.length), ADD],
          ...set(VECTORS + lane),
        ]),
        ...[...get(AT), ...i32(16 * parts.length), ADD, ...tee(AT), ...i32(places.queryEnd), LESS],
      ]),
      ...lanes.flatMap((lane) => [
        ...[...get(SCORES), ...total(SUMS + lane, isWhole), ...scaled(lane)],
        ...[0x38, ...at(4 * lane, 2)], // f32.store
      ]),
      ...[...get(IDS), ...i32(4 * NEAR_LANES), ADD, ...set(IDS)],
      ...[...get(SCORES), ...i32(4 * NEAR_LANES), ADD, ...set(SCORES)],
      ...[...get(TURNS), ...i32(-1), ADD, ...tee(TURNS)],
    ]),
  ];
  const locals = [
    { count: 7, type: I32 },
    { count: 1 + NEAR_LANES, type: V128 },
  ];
  return { name: "near", parameters: [I32], results: [], locals, code };
}

/** The sum over the four parts of a local, as f32. */
function total(sum: number, isWhole: boolean): number[] {
  const part = (index: number): number[] => [...get(sum), ...simd(isWhole ? 0x1b : 0x1f), index];
  const plus = isWhole ? ADD : 0x92;
  const all = [...part(0), ...part(1), plus, ...part(2), ...part(3), plus, plus];
  return isWhole ? [...all, 0xb2] : all; // f32.convert_i32_s
}

// Parameters and locals of expand, by number.
const [LINKS, NEXT, MARK, FLOOR, LAST, OUT, ID, READ, WRITE, TOUCHED, SCORE] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
] as const;

/** Reads a word that will be wanted soon, as WebAssembly has no instruction to fetch without waiting. */
function touch(address: number[], offset: number): number[] {
  return [...address, 0x28, ...at(offset, 2), ...get(TOUCHED), ADD, ...set(TOUCHED)];
}

/** Without branches on what is found, which a processor cannot foresee: each is written, and kept by moving on or not. */
function expandFunction(places: NearPlaces): WasmFunction {
  const { ids, scores, marks, vectors, stride, linkBytes } = places;
  const listFresh = loop([
    ...[...get(LINKS), ...i32(4), ADD, ...tee(LINKS), ...LOAD, ...set(ID)],
    ...[...get(OUT), ...get(ID), 0x36, ...at(0, 2)], // i32.store
    ...[...get(ID), 0x2d, ...at(marks), ...get(MARK), 0x47], // i32.load8_u, i32.ne
    ...[...i32(2), SHIFT_LEFT, ...get(OUT), ADD, ...set(OUT)],
    ...[...get(ID), ...get(MARK), 0x3a, ...at(marks)], // i32.store8
    ...touch([...get(ID), ...i32(stride), MULTIPLY], vectors),
    ...[...get(LINKS), ...get(LAST), LESS],
  ]);
  const fillUp = [0, 1, 2].flatMap((i) => [
    ...[...get(OUT), ...i32(ids), ...LOAD, 0x36, ...at(4 * i, 2)],
  ]);
  const listNear = loop([
    ...[...get(READ), 0x2a, ...at(scores, 2), ...set(SCORE)], // f32.load
    ...[...get(WRITE), ...get(READ), 0x28, ...at(ids, 2), 0x36, ...at(ids, 2)],
    ...[...get(WRITE), ...get(SCORE), 0x38, ...at(scores, 2)], // f32.store
    ...[...get(SCORE), ...get(FLOOR), 0x5e, ...i32(2), SHIFT_LEFT], // f32.gt
    ...[...get(WRITE), ADD, ...set(WRITE)],
    ...[...get(READ), ...i32(4), ADD, ...tee(READ), ...i32(ids), ADD, ...get(OUT), LESS],
  ]);
  const code = [
    ...Array.from({ length: Math.ceil(linkBytes / 64) }, (_, line) =>
      touch(get(NEXT), 64 * line),
    ).flat(),
    ...[...i32(ids), ...set(OUT)],
    ...[...get(LINKS), 0x2f, ...at(0), ...i32(2), SHIFT_LEFT], // i32.load16_u
    ...[...get(LINKS), ADD, ...set(LAST), ...get(LINKS), ...get(LAST), LESS],
    ...when(listFresh),
    ...[...i32(ids), ...get(OUT), LESS],
    ...when([
      ...fillUp,
      ...[...get(OUT), ...i32(12 - ids), ADD, ...i32(4), SHIFT_RIGHT, ...call(0)], // ids to turns
      ...listNear,
    ]),
    ...[...i32(places.touched), ...get(TOUCHED), 0x36, ...at(0, 2)],
    ...[...get(WRITE), ...i32(2), SHIFT_RIGHT],
  ];
  const locals = [
    { count: 6, type: I32 },
    { count: 1, type: F32 },
  ];
  return { name: "expand", parameters: [I32, I32, I32, F32], results: [I32], locals, code };
}
