/**
 * WebAssembly written out by hand: the few loops that JavaScript runs many times slower, because it has no SIMD. Code is
 * a list of bytes; these functions give the bytes of instructions and of the module around them.
 */

/** What is used of WebAssembly: its types come with a browser's, which this project does not load. */
export interface WebAssemblyApi {
  Memory: new (size: { initial: number }) => {
    readonly buffer: ArrayBuffer;
    /** By so many pages; the old buffer is gone then. */
    grow(pages: number): number;
  };
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  Instance: new (
    module: object,
    imports: { env: { memory: object } },
  ) => { exports: Record<string, unknown> };
}

/** Absent where it is switched off (`node --jitless`). */
export const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly?: WebAssemblyApi;
};

/**
 * Memory for a module, or null where the machine reserves none: each takes some 8 GiB of addresses, whatever its size, which a limit on
 * them (`ulimit -v`, as schedulers set it) may not leave. What needs it then runs in JavaScript.
 */
export function reserveMemory(
  api: WebAssemblyApi,
  initial: number,
): InstanceType<WebAssemblyApi["Memory"]> | null {
  try {
    return new api.Memory({ initial });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Bytes of a page of memory. */
export const MEMORY_PAGE_BYTES = 1 << 16;

/** Value types. */
export const I32 = 0x7f;
export const F32 = 0x7d;
export const V128 = 0x7b;

/** i32.add */
export const ADD = 0x6a;

/** i32.lt_u */
export const LESS = 0x49;

/** A function: parameters and other variables are numbered together, in this order. */
export interface WasmFunction {
  /** Exported under this name. */
  name: string;
  parameters: number[];
  results: number[];
  /** Variables beside the parameters, by type. */
  locals: { count: number; type: number }[];
  code: number[];
}

/** The bytes of a module that imports its memory as `env.memory`. */
export function wasmModule(
  functions: readonly WasmFunction[],
  memoryPages: number,
): Uint8Array<ArrayBuffer> {
  const memory = [...text("env"), ...text("memory"), 0x02, 0x00, ...unsigned(memoryPages)];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(
      1,
      functions.map(({ parameters, results }) => [
        ...[0x60, ...bytesOf(parameters), ...bytesOf(results)],
      ]),
    ),
    ...section(2, [memory]),
    ...section(
      3,
      functions.map((_, i) => unsigned(i)),
    ),
    ...section(
      7,
      functions.map(({ name }, i) => [...text(name), 0x00, ...unsigned(i)]),
    ),
    ...section(10, functions.map(bodyOf)),
  ]);
}

function bodyOf({ locals, code }: WasmFunction): number[] {
  const groups = vector(locals.map(({ count, type }) => [...unsigned(count), type]));
  return sized([...groups, ...code, END]);
}

const END = 0x0b;

export function get(local: number): number[] {
  return [0x20, ...unsigned(local)];
}

export function set(local: number): number[] {
  return [0x21, ...unsigned(local)];
}

export function tee(local: number): number[] {
  return [0x22, ...unsigned(local)];
}

/** i32.const */
export function i32(value: number): number[] {
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

/** Calls a function of the module, by its place in the list. */
export function call(index: number): number[] {
  return [0x10, ...unsigned(index)];
}

/** An instruction of the SIMD table. */
export function simd(opcode: number): number[] {
  return [0xfd, ...unsigned(opcode)];
}

/** v128.const with all bits 0. */
export const ZERO: readonly number[] = [...simd(12), ...new Array<number>(16).fill(0)];

/** Where a load or store reads or writes, relative to the address on the stack; alignment as a power of 2. */
export function at(offset: number, alignment = 0): number[] {
  return [...unsigned(alignment), ...unsigned(offset)];
}

/** Runs the code again as long as it leaves a number other than 0. */
export function loop(code: number[]): number[] {
  return [0x03, 0x40, ...code, 0x0d, 0x00, END];
}

/** Runs the code if the number on the stack is not 0. */
export function when(code: number[]): number[] {
  return [0x04, 0x40, ...code, END];
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

function bytesOf(types: number[]): number[] {
  return vector(types.map((type) => [type]));
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
