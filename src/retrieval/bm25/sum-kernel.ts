/**
 * The two loops over the accumulator as WebAssembly. Adding: without bounds checks it takes half as long as in
 * JavaScript. Scanning: 16 sums are compared with the limit at once, in a tenth of the time; it was most of a search.
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
  wasmModule,
  webAssembly,
  when,
  ZERO,
} from "../../base/wasm.ts";

/** Sums that one turn of the scan looks at: stretches must be a multiple of it long. */
export const SCAN_STEP = 16;

/** Numbers per block in the table that `addAll` and `addSummed` read. */
export const TABLE_NUMBERS = 4;

/** The loops. Addresses are in bytes; sums lie at address 0. */
export interface SumKernel {
  /**
   * Adds `weight` times each impact of some blocks to the sums of their passages.
   *
   * @param table address of the first block's four numbers (i32): address of its distances (u16), of its impacts (u8),
   *   address behind its distances, and four times what is to be added to a distance.
   * @param end address behind the last block's numbers; there is at least one block and each has a posting.
   */
  addAll: (table: number, end: number, weight: number) => void;
  /** The same for passages that have a sum already, and for no other. */
  addSummed: (table: number, end: number, weight: number) => void;
  /**
   * Lists the sums of a stretch that exceed a limit, and sets all of it to 0.
   *
   * @param address of the first sum; `end` that of the one behind the last.
   * @param first what the first sum is listed as; those behind it count up.
   * @param out address of the list's next place; the sum itself goes `sumsOffset` bytes behind.
   * @returns the list's next place then.
   */
  scan: (address: number, end: number, limit: number, first: number, out: number) => number;
}

/** @param api without it the loops are those of `plainSums`. */
export function sumKernel(
  bytes: number,
  sumsOffset: number,
  api = webAssembly,
): { buffer: ArrayBuffer; kernel: SumKernel } {
  if (api === undefined) {
    const buffer = new ArrayBuffer(bytes);
    return { buffer, kernel: plainSums(buffer, sumsOffset) };
  }
  const memory = new api.Memory({ initial: Math.ceil(bytes / MEMORY_PAGE_BYTES) });
  const functions = [
    addFunction("addAll", (add) => add),
    addFunction("addSummed", (add) => [...[...get(SUM_AT), ...LOAD], ...when(add)]),
    scanFunction(sumsOffset),
  ];
  const module = new api.Module(wasmModule(functions, 1));
  const { exports } = new api.Instance(module, { env: { memory } });
  return { buffer: memory.buffer, kernel: exports as unknown as SumKernel };
}

/** The same in JavaScript: what the module must do, and what runs without WebAssembly. */
export function plainSums(buffer: ArrayBuffer, sumsOffset: number): SumKernel {
  const numbers = new Int32Array(buffer);
  const bytes = new Uint8Array(buffer);
  const data = new DataView(buffer);
  const add =
    (onlySummed: boolean): SumKernel["addAll"] =>
    (table, end, weight) => {
      for (let block = table >> 2; block < end >> 2; block += TABLE_NUMBERS) {
        const stop = numbers[block + 2]!;
        let impact = numbers[block + 1]!;
        for (let distance = numbers[block]!; distance < stop; distance += 2, impact++) {
          const sum = data.getUint16(distance, true) + (numbers[block + 3]! >> 2);
          if (onlySummed && numbers[sum] === 0) continue;
          numbers[sum]! += Math.imul(bytes[impact]!, weight);
        }
      }
    };
  return {
    addAll: add(false),
    addSummed: add(true),
    scan(address, end, limit, first, out) {
      let next = out >> 2;
      for (let sum = address >> 2; sum < end >> 2; sum++) {
        const value = numbers[sum]!;
        numbers[sum] = 0;
        if (value <= limit) continue;
        numbers[next] = first + sum - (address >> 2);
        numbers[next + (sumsOffset >> 2)] = value;
        next += 1;
      }
      return 4 * next;
    },
  };
}

const SHIFT_LEFT = 0x74; // i32.shl
const LOAD = [0x28, ...at(0)]; // i32.load
const STORE = [0x36, ...at(0)]; // i32.store

// Parameters and locals of addAll and addSummed, by number.
const [TABLE, TABLE_END, WEIGHT, DISTANCE, IMPACT, DISTANCE_END, SHIFT, SUM_AT] = [
  0, 1, 2, 3, 4, 5, 6, 7,
] as const;

/** @param guarded wraps the addition of one posting, whose sum's address is known by then. */
function addFunction(name: string, guarded: (add: number[]) => number[]): WasmFunction {
  const number = (i: number): number[] => [...get(TABLE), 0x28, ...at(4 * i)];
  const addOne = [
    ...[...get(SUM_AT), ...get(SUM_AT), ...LOAD],
    ...[...get(IMPACT), 0x2d, ...at(0), ...get(WEIGHT), 0x6c, ADD, ...STORE], // load8_u, mul
  ];
  return {
    name,
    parameters: [I32, I32, I32],
    results: [],
    locals: [{ count: 5, type: I32 }],
    code: loop([
      ...[...number(0), ...set(DISTANCE)],
      ...[...number(1), ...set(IMPACT)],
      ...[...number(2), ...set(DISTANCE_END)],
      ...[...number(3), ...set(SHIFT)],
      ...loop([
        ...[...get(DISTANCE), 0x2f, ...at(0), ...i32(2), SHIFT_LEFT], // load16_u
        ...[...get(SHIFT), ADD, ...set(SUM_AT)],
        ...guarded(addOne),
        ...[...get(IMPACT), ...i32(1), ADD, ...set(IMPACT)],
        ...[...get(DISTANCE), ...i32(2), ADD, ...tee(DISTANCE)],
        ...[...get(DISTANCE_END), LESS],
      ]),
      ...[...get(TABLE), ...i32(4 * TABLE_NUMBERS), ADD, ...tee(TABLE)],
      ...[...get(TABLE_END), LESS],
    ]),
  };
}

// Parameters and locals of scan, by number.
const [ADDRESS, STOP, LIMIT, FIRST, OUT, FOUND, BIT, LIMITS] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

function scanFunction(sumsOffset: number): WasmFunction {
  const above = (part: number): number[] => [
    ...[...get(ADDRESS), ...simd(0), ...at(16 * part)], // v128.load
    ...[...get(LIMITS), ...simd(0x3b)], // i32x4.gt_s
  ];
  const narrowed = (part: number): number[] => [...above(part), ...above(part + 1), ...simd(0x85)];
  const clear = (part: number): number[] => [
    ...get(ADDRESS),
    ...ZERO,
    ...[...simd(11), ...at(16 * part)], // v128.store
  ];
  const listOne = [
    ...[...get(FOUND), 0x68, ...set(BIT)], // i32.ctz
    ...[...get(OUT), ...get(FIRST), ...get(BIT), ADD, ...STORE],
    ...[...get(OUT), ...get(ADDRESS), ...get(BIT), ...i32(2), SHIFT_LEFT, ADD, ...LOAD],
    ...[0x36, ...at(sumsOffset)],
    ...[...get(OUT), ...i32(4), ADD, ...set(OUT)],
    ...[...get(FOUND), ...get(FOUND), ...i32(-1), ADD, 0x71, ...tee(FOUND)], // and: the lowest bit is gone
  ];
  return {
    name: "scan",
    parameters: [I32, I32, I32, I32, I32],
    results: [I32],
    locals: [
      { count: 2, type: I32 },
      { count: 1, type: V128 },
    ],
    code: [
      ...[...get(LIMIT), ...simd(0x11), ...set(LIMITS)], // i32x4.splat
      ...loop([
        // i8x16.narrow_i16x8_s of two i16x8.narrow_i32x4_s, i8x16.bitmask: one bit for each of 16 sums
        ...[...narrowed(0), ...narrowed(2), ...simd(0x65), ...simd(0x64), ...tee(FOUND)],
        ...when(loop(listOne)),
        ...[0, 1, 2, 3].flatMap(clear),
        ...[...get(FIRST), ...i32(SCAN_STEP), ADD, ...set(FIRST)],
        ...[...get(ADDRESS), ...i32(4 * SCAN_STEP), ADD, ...tee(ADDRESS)],
        ...[...get(STOP), LESS],
      ]),
      ...get(OUT),
    ],
  };
}
