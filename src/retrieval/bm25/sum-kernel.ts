/**
 * The loops over the accumulator as WebAssembly. Adding: without bounds checks it takes half as long as in JavaScript.
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
  MEMORY_PAGE_BYTES,
  set,
  simd,
  tee,
  V128,
  type WasmFunction,
  type WebAssemblyApi,
  wasmModule,
  webAssembly,
  when,
  ZERO,
} from "../../base/wasm.ts";

/** Passages of a window: each has a sum, an i32; the sums lie at address 0. */
export const WINDOW = 1 << 18;

/** Passages that share a mark, a byte: 1 where one of them may have a sum. */
export const STRETCH_SHIFT = 9;
export const STRETCH = 1 << STRETCH_SHIFT;

/** Addresses: marks; candidates' distances from the window's start, and their sums; what follows is free for all else. */
export const MARKS_AT = 4 * WINDOW;
export const CANDIDATES_AT = MARKS_AT + WINDOW / STRETCH;
export const CANDIDATE_SUMS_AT = CANDIDATES_AT + 4 * WINDOW;
export const FREE_AT = CANDIDATE_SUMS_AT + 4 * WINDOW;

/**
 * Numbers per block in a table of blocks (i32): where its distances (u16) begin, where its impacts (u8) begin, where its
 * distances end, all from an address given beside the table; and the passage that the distances count from.
 */
export const ENTRY_NUMBERS = 4;
export const ENTRY_BYTES = 4 * ENTRY_NUMBERS;

/** The loops. Addresses are in bytes. */
export interface SumKernel {
  /**
   * Adds `weight` times each impact of some blocks to the sums of their passages, and sets their marks.
   *
   * @param table address of the first block's entry; `end` that behind the last one's. At least one block, each with at
   *   least one posting, none of them outside the window.
   * @param base what the entries' addresses count from.
   * @param start the window's first passage.
   */
  addAll: (table: number, end: number, base: number, start: number, weight: number) => void;
  /** The same for passages that have a sum already, and for no other. */
  addSummed: (table: number, end: number, base: number, start: number, weight: number) => void;
  /**
   * Lists the largest sum of each marked stretch, as candidates whose distance is that of the stretch.
   *
   * @param mark address of the first stretch's mark; `end` that behind the last one's.
   * @param out address of the list's next place.
   * @returns the list's next place then.
   */
  largest: (mark: number, end: number, out: number) => number;
  /**
   * Lists the sums of marked stretches that exceed a limit as candidates; sets all of them, and the marks, to 0.
   * Parameters and result as for `largest`.
   */
  scan: (mark: number, end: number, limit: number, out: number) => number;
}

/** The memory's content, by the width of what is read. */
export interface MemoryViews {
  u8: Uint8Array<ArrayBuffer>;
  u16: Uint16Array<ArrayBuffer>;
  u32: Uint32Array<ArrayBuffer>;
  i32: Int32Array<ArrayBuffer>;
}

/** Memory that the loops work in. */
export interface KernelMemory {
  /** Other ones after `grow`, so they are asked for before every use. */
  views: MemoryViews;
  readonly kernel: SumKernel;
  /** Makes it at least so many bytes long. */
  grow(bytes: number): void;
}

/** @param api null runs the loops in JavaScript. */
export function kernelMemory(
  bytes: number,
  api: WebAssemblyApi | null = webAssembly ?? null,
): KernelMemory {
  if (api === null) return plainMemory(bytes);
  const memory = new api.Memory({ initial: pages(bytes) });
  const functions = [
    addFunction("addAll", { guarded: (add) => add, marks: MARK_BLOCK }),
    addFunction("addSummed", {
      guarded: (add) => [...[...get(SUM_AT), ...LOAD], ...when(add)],
      marks: [],
    }),
    largestFunction(),
    scanFunction(),
  ];
  const module = new api.Module(wasmModule(functions, 1));
  const { exports } = new api.Instance(module, { env: { memory } });
  return {
    kernel: exports as unknown as SumKernel,
    views: viewsOf(memory.buffer),
    grow(needed) {
      if (needed <= this.views.u8.length) return;
      memory.grow(pages(needed) - pages(this.views.u8.length));
      this.views = viewsOf(memory.buffer);
    },
  };
}

/** The same in JavaScript: what the module must do, and what runs without WebAssembly. */
function plainMemory(bytes: number): KernelMemory {
  const memory: KernelMemory = {
    kernel: plainSums(() => memory.views),
    views: viewsOf(new ArrayBuffer(pages(bytes) * MEMORY_PAGE_BYTES)),
    grow(needed) {
      if (needed <= memory.views.u8.length) return;
      const larger = viewsOf(new ArrayBuffer(pages(needed) * MEMORY_PAGE_BYTES));
      larger.u8.set(memory.views.u8);
      memory.views = larger;
    },
  };
  return memory;
}

function pages(bytes: number): number {
  return Math.ceil(bytes / MEMORY_PAGE_BYTES);
}

/** The views of a buffer. */
export function viewsOf(buffer: ArrayBuffer): MemoryViews {
  return {
    u8: new Uint8Array(buffer),
    u16: new Uint16Array(buffer),
    u32: new Uint32Array(buffer),
    i32: new Int32Array(buffer),
  };
}

function plainSums(views: () => MemoryViews): SumKernel {
  const add =
    (onlySummed: boolean): SumKernel["addAll"] =>
    (table, end, base, start, weight) => {
      const { u8, u16, i32: numbers } = views();
      for (let entry = table >> 2; entry < end >> 2; entry += ENTRY_NUMBERS) {
        const from = (base + numbers[entry]!) >> 1;
        const to = (base + numbers[entry + 2]!) >> 1;
        const impacts = base + numbers[entry + 1]!;
        const shift = numbers[entry + 3]! - start;
        for (let i = from; i < to; i++) {
          const sum = u16[i]! + shift;
          if (onlySummed && numbers[sum] === 0) continue;
          numbers[sum]! += Math.imul(u8[impacts + i - from]!, weight);
          if (!onlySummed) u8[MARKS_AT + (sum >> STRETCH_SHIFT)] = 1;
        }
      }
    };
  return {
    addAll: add(false),
    addSummed: add(true),
    largest(mark, end, out) {
      const { u8, i32: numbers } = views();
      let next = out >> 2;
      for (let at = mark; at < end; at++) {
        if (u8[at] === 0) continue;
        const first = (at - MARKS_AT) * STRETCH;
        numbers[next] = first;
        numbers[next + WINDOW] = numbers
          .subarray(first, first + STRETCH)
          .reduce((most, sum) => Math.max(most, sum), 0);
        next += 1;
      }
      return 4 * next;
    },
    scan(mark, end, limit, out) {
      const { u8, i32: numbers } = views();
      let next = out >> 2;
      for (let at = mark; at < end; at++) {
        if (u8[at] === 0) continue;
        u8[at] = 0;
        const first = (at - MARKS_AT) * STRETCH;
        for (let sum = first; sum < first + STRETCH; sum++) {
          const value = numbers[sum]!;
          numbers[sum] = 0;
          if (value <= limit) continue;
          numbers[next] = sum;
          numbers[next + WINDOW] = value;
          next += 1;
        }
      }
      return 4 * next;
    },
  };
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
