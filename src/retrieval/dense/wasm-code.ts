/** WebAssembly written out byte by byte: the few instructions and sections that the vector kernels need. */

/** A module of one function without result; its memory is imported as `env.memory`. */
export interface WasmFunction {
  /** Exported as. */
  name: string;
  /** Number of parameters, each an i32. */
  parameters: number;
  /** Further locals after the parameters: how many of which type. */
  locals: readonly (readonly [count: number, type: number])[];
  code: number[];
}

/** @returns the module's binary. */
export function wasmModule({
  name,
  parameters,
  locals,
  code,
}: WasmFunction): Uint8Array<ArrayBuffer> {
  const memory = [...text("env"), ...text("memory"), 0x02, 0x00, ...unsigned(1)];
  const types = Array.from({ length: parameters }, () => [I32]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [[0x60, ...vector(types), 0x00]]), // (i32, …) → ()
    ...section(2, [memory]),
    ...section(3, [[0x00]]),
    ...section(7, [[...text(name), 0x00, 0x00]]),
    ...section(10, [sized([...vector(locals.map((each) => [...each])), ...code, END])]),
  ]);
}

export const I32 = 0x7f;
export const V128 = 0x7b;
const END = 0x0b;

export const ADD = 0x6a; // i32.add
export const LESS = 0x49; // i32.lt_u

export function get(local: number | undefined): number[] {
  return [0x20, ...unsigned(local ?? 0)];
}

export function set(local: number | undefined): number[] {
  return [0x21, ...unsigned(local ?? 0)];
}

export function tee(local: number | undefined): number[] {
  return [0x22, ...unsigned(local ?? 0)];
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

/** An instruction of the SIMD table. */
export function simd(opcode: number): number[] {
  return [0xfd, ...unsigned(opcode)];
}

/** Where a load or store reads or writes, relative to the address on the stack. */
export function at(offset: number, alignment = 0): number[] {
  return [...unsigned(alignment), ...unsigned(offset)];
}

/** Runs the code again as long as it leaves a number other than 0. */
export function loop(code: number[]): number[] {
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

/** What is used of WebAssembly: its types come with a browser's, which this project does not load. */
export interface WebAssemblyApi {
  Module: new (code: Uint8Array) => object;
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  Instance: new (module: object, imports: object) => { readonly exports: object };
}

/** Absent under `node --jitless`. */
export const webAssembly = (globalThis as unknown as { WebAssembly?: WebAssemblyApi }).WebAssembly;
