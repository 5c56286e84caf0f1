/**
 * The loops over the accumulator in WebAssembly. Adding: without bounds checks it takes half as long as in JavaScript.
 * Scanning: 16 sums are compared with the limit at once, in a tenth of the time; it was most of a search.
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
  type WasmFunction,
  when,
  ZERO,
} from "../../base/wasm.ts";
import {
  CANDIDATE_SUMS_AT,
  CANDIDATES_AT,
  ENTRY_BYTES,
  MARKS_AT,
  STRETCH,
  STRETCH_SHIFT,
} from "./sum-layout.ts";

/** `SumKernel`'s functions. */
export function sumLoops(): WasmFunction[] {
  return [
    addFunction("addAll", { guarded: (add) => add, marks: MARK_BLOCK }),
    addFunction("addSummed", {
      guarded: (add) => [...[...get(SUM_AT), ...LOAD], ...when(add)],
      marks: [],
    }),
    largestFunction(),
    scanFunction(),
  ];
}

const LESS_OR_EQUAL = 0x4d; // i32.le_u
const SUBTRACT = 0x6b; // i32.sub
const SHIFT_LEFT = 0x74; // i32.shl
const SHIFT_RIGHT = 0x76; // i32.shr_u
const LOAD = [0x28, ...at(0)]; // i32.load
const STORE = [0x36, ...at(0)]; // i32.store
const loadU16 = (offset: number): number[] => [0x2f, ...at(offset)]; // i32.load16_u
const loadU8 = (offset: number): number[] => [0x2d, ...at(offset)]; // i32.load8_u

// Parameters and locals of addAll and addSummed, by number.
const [TABLE, TABLE_END, BASE, START, WEIGHT] = [0, 1, 2, 3, 4] as const;
const [DISTANCE, IMPACT, DISTANCE_END, SHIFT, SUM_AT, MARK] = [5, 6, 7, 8, 9, 10] as const;

/** Address of the sum of the passage whose distance is on the stack. */
const TO_SUM = [...i32(2), SHIFT_LEFT, ...get(SHIFT), ADD];
/** From the address of a sum to the address of its mark, but for `MARKS_AT`. */
const TO_MARK = [...i32(2 + STRETCH_SHIFT), SHIFT_RIGHT];

/** Marks from the block's first passage to its last. */
const MARK_BLOCK = [
  ...[...get(DISTANCE), ...loadU16(0), ...TO_SUM, ...TO_MARK, ...set(MARK)],
  ...[...get(DISTANCE_END), ...i32(-2), ADD, ...loadU16(0), ...TO_SUM, ...TO_MARK, ...set(SUM_AT)],
  ...loop([
    ...[...get(MARK), ...i32(1), 0x3a, ...at(MARKS_AT)], // i32.store8
    ...[...get(MARK), ...i32(1), ADD, ...tee(MARK), ...get(SUM_AT), LESS_OR_EQUAL],
  ]),
];

/** Postings that one turn of the inner loop adds. */
const UNROLLED = 4;

interface Adding {
  /** Wraps the addition of one posting, whose sum's address is known by then. */
  guarded: (add: number[]) => number[];
  /** What else is done with a block. */
  marks: number[];
}

function addFunction(name: string, { guarded, marks }: Adding): WasmFunction {
  const number = (i: number): number[] => [...get(TABLE), 0x28, ...at(4 * i)];
  const addOne = (i: number): number[] => [
    ...[...get(DISTANCE), ...loadU16(2 * i), ...TO_SUM, ...set(SUM_AT)],
    ...guarded([
      ...[...get(SUM_AT), ...get(SUM_AT), ...LOAD],
      ...[...get(IMPACT), ...loadU8(i), ...get(WEIGHT), 0x6c, ADD, ...STORE], // i32.mul
    ]),
  ];
  const advance = (count: number): number[] => [
    ...[...get(IMPACT), ...i32(count), ADD, ...set(IMPACT)],
    ...[...get(DISTANCE), ...i32(2 * count), ADD, ...set(DISTANCE)],
  ];
  const whileLeft = (count: number, code: number[]): number[] => {
    const left = [...get(DISTANCE), ...get(DISTANCE_END), ...i32(2 - 2 * count), ADD, LESS];
    return [...left, ...when(loop([...code, ...advance(count), ...left]))];
  };
  const several = Array.from({ length: UNROLLED }, (_, i) => addOne(i)).flat();
  return {
    name,
    parameters: [I32, I32, I32, I32, I32],
    results: [],
    locals: [{ count: 6, type: I32 }],
    code: loop([
      ...[...number(0), ...get(BASE), ADD, ...set(DISTANCE)],
      ...[...number(1), ...get(BASE), ADD, ...set(IMPACT)],
      ...[...number(2), ...get(BASE), ADD, ...set(DISTANCE_END)],
      ...[...number(3), ...get(START), SUBTRACT, ...i32(2), SHIFT_LEFT, ...set(SHIFT)],
      ...marks,
      ...whileLeft(UNROLLED, several),
      ...whileLeft(1, addOne(0)),
      ...[...get(TABLE), ...i32(ENTRY_BYTES), ADD, ...tee(TABLE)],
      ...[...get(TABLE_END), LESS],
    ]),
  };
}

/** Sums that one turn of the loops below looks at, and their bytes. */
const STEP = 16;
const STEP_BYTES = 4 * STEP;

/** The four vectors of a step. */
const PARTS = [0, 1, 2, 3] as const;

// Locals of the loops below, by number; the parameters before them differ.
const [AT_MARK, MARK_END] = [0, 1] as const;

/** From the address of a mark to the address of its stretch's first sum. */
const STRETCH_OF_MARK = [
  ...[...get(AT_MARK), ...i32(-MARKS_AT), ADD, ...i32(2 + STRETCH_SHIFT), SHIFT_LEFT],
];

/** Runs code for every marked stretch; there is at least one stretch. */
function forMarked(code: number[]): number[] {
  return loop([
    ...[...get(AT_MARK), ...loadU8(0), ...when(code)],
    ...[...get(AT_MARK), ...i32(1), ADD, ...tee(AT_MARK), ...get(MARK_END), LESS],
  ]);
}

/** Runs code for every step of a stretch; the local `address` holds its first sum's address before. */
function forSteps(address: number, end: number, code: number[]): number[] {
  return [
    ...[...get(address), ...i32(4 * STRETCH), ADD, ...set(end)],
    ...loop([
      ...code,
      ...[...get(address), ...i32(STEP_BYTES), ADD, ...tee(address), ...get(end), LESS],
    ]),
  ];
}

/** v128.load of a part of a step. */
function loadPart(address: number, part: number): number[] {
  return [...get(address), ...simd(0), ...at(16 * part)];
}

function largestFunction(): WasmFunction {
  const [OUT, ADDRESS, STOP, MOST] = [2, 3, 4, 5] as const;
  const larger = simd(0xb8); // i32x4.max_s
  const takeIn = (part: number): number[] => [
    ...[...get(MOST), ...loadPart(ADDRESS, part), ...larger, ...set(MOST)],
  ];
  /** The larger of each lane and of the one so many bytes on. */
  const foldBy = (bytes: number): number[] => [
    ...[...get(MOST), ...get(MOST), ...get(MOST), ...turned(bytes), ...larger, ...set(MOST)],
  ];
  const listOne = [
    ...[...get(OUT), ...STRETCH_OF_MARK, ...i32(2), SHIFT_RIGHT, ...STORE],
    ...[...get(OUT), ...get(MOST), ...simd(0x1b), 0, 0x36, ...at(SUMS_BEHIND)], // i32x4.extract_lane
    ...[...get(OUT), ...i32(4), ADD, ...set(OUT)],
  ];
  return {
    name: "largest",
    parameters: [I32, I32, I32],
    results: [I32],
    locals: [
      { count: 2, type: I32 },
      { count: 1, type: V128 },
    ],
    code: [
      ...forMarked([
        ...[...STRETCH_OF_MARK, ...set(ADDRESS), ...ZERO, ...set(MOST)],
        ...forSteps(ADDRESS, STOP, PARTS.flatMap(takeIn)),
        ...[...foldBy(8), ...foldBy(4), ...listOne],
      ]),
      ...get(OUT),
    ],
  };
}

/** Bytes from a candidate's distance to its sum. */
const SUMS_BEHIND = CANDIDATE_SUMS_AT - CANDIDATES_AT;

/** i8x16.shuffle: the bytes of a vector, given twice, beginning with another one of them. */
function turned(first: number): number[] {
  return [...simd(13), ...Array.from({ length: 16 }, (_, i) => (i + first) % 16)];
}

function scanFunction(): WasmFunction {
  const [LIMIT, OUT, ADDRESS, STOP, FOUND, SUM, LIMITS] = [2, 3, 4, 5, 6, 7, 8] as const;
  const above = (part: number): number[] => [
    ...[...loadPart(ADDRESS, part), ...get(LIMITS), ...simd(0x3b)], // i32x4.gt_s
  ];
  const narrowed = (part: number): number[] => [...above(part), ...above(part + 1), ...simd(0x85)];
  const clear = (part: number): number[] => [
    ...[...get(ADDRESS), ...ZERO, ...simd(11), ...at(16 * part)], // v128.store
  ];
  const listOne = [
    ...[...get(FOUND), 0x68, ...i32(2), SHIFT_LEFT, ...get(ADDRESS), ADD, ...set(SUM)], // i32.ctz
    ...[...get(OUT), ...get(SUM), ...i32(2), SHIFT_RIGHT, ...STORE],
    ...[...get(OUT), ...get(SUM), ...LOAD, 0x36, ...at(SUMS_BEHIND)],
    ...[...get(OUT), ...i32(4), ADD, ...set(OUT)],
    ...[...get(FOUND), ...get(FOUND), ...i32(-1), ADD, 0x71, ...tee(FOUND)], // i32.and: the lowest bit is gone
  ];
  return {
    name: "scan",
    parameters: [I32, I32, I32, I32],
    results: [I32],
    locals: [
      { count: 4, type: I32 },
      { count: 1, type: V128 },
    ],
    code: [
      ...[...get(LIMIT), ...simd(0x11), ...set(LIMITS)], // i32x4.splat
      ...forMarked([
        ...[...get(AT_MARK), ...i32(0), 0x3a, ...at(0)], // i32.store8
        ...[...STRETCH_OF_MARK, ...set(ADDRESS)],
        ...forSteps(ADDRESS, STOP, [
          // i8x16.narrow_i16x8_s of two i16x8.narrow_i32x4_s, i8x16.bitmask: one bit for each of 16 sums
          ...[...narrowed(0), ...narrowed(2), ...simd(0x65), ...simd(0x64), ...tee(FOUND)],
          ...when(loop(listOne)),
          ...PARTS.flatMap(clear),
        ]),
      ]),
      ...get(OUT),
    ],
  };
}
