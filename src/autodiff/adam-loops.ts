/**
 * The loops of an optimizer step over arrays in host memory: WebAssembly with four lanes (adamw.wat), and the same in JavaScript, which
 * is the reference and what runs where there is no WebAssembly. Both give the same bits.
 *
 * Every operation rounds to float32, as in torch; only sums of squares are float64. After one step from the same state, each number
 * differs from the exact one by a few roundings: moments by 2·10⁻⁷ of their two terms, a parameter by 5·10⁻⁷ of its change's terms and
 * by its own rounding, half a unit in its last place. β rounded to float32 shifts what the moments tend to by 3·10⁻⁸ / (1 − β) at most.
 * An element's result depends on nothing but its own numbers: not on ranges, workers or blocks.
 */
import {
  MEMORY_PAGE_BYTES,
  reserveMemory,
  reserveSharedMemory,
  webAssembly,
  type WebAssemblyApi,
  wasmModule,
} from "../base/wasm.ts";
import type { AdamFactors } from "./adamw.ts";
import { adamKernel, sharedAdamKernel } from "./kernels.ts";

/** Flat arrays of equal length. */
export interface AdamArrays {
  parameters: Float32Array;
  gradients: Float32Array;
  /** Running mean of gradients. */
  mean: Float32Array;
  /** Running mean of squared gradients, uncentred. */
  square: Float32Array;
}

/** Loops over arrays of one room. */
export interface AdamLoops {
  /** Updates elements [from, to) in place. @param range.decays number of leading elements with weight decay. */
  step(
    arrays: AdamArrays,
    range: { from: number; to: number; decays: number },
    factors: AdamFactors,
  ): void;
  /** Adds an array to another of the same length. */
  add(into: Float32Array, from: Float32Array): void;
  /** Σ x², in float64. */
  squares(x: Float32Array): number;
}

/** Arrays that the loops reach. */
export interface AdamRoom {
  /** For `adamLoops`; null without WebAssembly, or above 4 GiB. */
  readonly memory: AdamMemory | null;
  /** Zeros. */
  readonly arrays: readonly Float32Array[];
}

/** WebAssembly memory; where its buffer is shared, a message gives it to another thread. */
export interface AdamMemory {
  readonly buffer: ArrayBufferLike;
}

/** Bytes to which the arrays are aligned: a cache line. */
const ALIGNMENT = 64;

/**
 * @param sizes elements of each array.
 * @param options.shared whether worker threads share the arrays; default false.
 * @param options.api null leaves WebAssembly out.
 */
export function adamRoom(
  sizes: readonly number[],
  options: { shared?: boolean; api?: WebAssemblyApi | null } = {},
): AdamRoom {
  const { shared = false, api = webAssembly ?? null } = options;
  let bytes = 0;
  const places = sizes.map((size) => {
    const start = bytes;
    bytes += Math.ceil((4 * size) / ALIGNMENT) * ALIGNMENT;
    return { start, size };
  });
  // The kernel asks for a page at least.
  const pages = Math.max(1, Math.ceil(bytes / MEMORY_PAGE_BYTES));
  const reserve = shared ? reserveSharedMemory : reserveMemory;
  const memory = api === null ? null : reserve(api, pages);
  // Apart where nothing needs them together: a single buffer has a largest size.
  const apart = (bytes: number): ArrayBufferLike =>
    shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  const arrays = places.map(({ start, size }) =>
    memory === null
      ? new Float32Array(apart(4 * size))
      : new Float32Array(memory.buffer, start, size),
  );
  return { memory, arrays };
}

/** The functions of adamw.wat. */
interface AdamKernel {
  step: (...addressesCountAndFactors: number[]) => void;
  add: (into: number, from: number, count: number) => void;
  squares: (x: number, count: number) => number;
}

/** @param memory that of the room: the loops reach no other arrays. Null: loops in JavaScript, over any arrays. */
export function adamLoops(memory: AdamMemory | null): AdamLoops {
  const api = webAssembly;
  if (memory === null || api === undefined) return plainLoops;
  const compiled = memory.buffer instanceof ArrayBuffer ? adamKernel : sharedAdamKernel;
  const { exports } = new api.Instance(wasmModule(api, compiled), { env: { memory } });
  const kernel = exports as unknown as AdamKernel;
  return {
    step({ parameters, gradients, mean, square }, { from, to, decays }, factors) {
      const { meanKept, meanShare, squareKept, squareShare, rate, epsilon, decay } = factors;
      const arrays = [parameters, gradients, mean, square];
      const update = (start: number, end: number, decayed: number): void => {
        if (start >= end) return;
        const addresses = arrays.map(({ byteOffset }) => byteOffset + 4 * start);
        const moments = [meanKept, meanShare, squareKept, squareShare];
        kernel.step(...addresses, end - start, ...moments, rate, epsilon, decayed);
      };
      update(from, Math.min(decays, to), decay);
      update(Math.max(decays, from), to, 0);
    },
    add(into, from) {
      kernel.add(into.byteOffset, from.byteOffset, into.length);
    },
    squares: (x) => kernel.squares(x.byteOffset, x.length),
  };
}

const { fround } = Math;

const plainLoops: AdamLoops = {
  step({ parameters, gradients, mean, square }, { from, to, decays }, factors) {
    // A float64 operation whose result is rounded to float32 gives the bits of the float32 operation.
    const [meanKept, meanShare] = [fround(factors.meanKept), fround(factors.meanShare)];
    const [squareKept, squareShare] = [fround(factors.squareKept), fround(factors.squareShare)];
    const [rate, epsilon] = [fround(factors.rate), fround(factors.epsilon)];
    const decay = fround(factors.decay);
    for (let i = from; i < to; i++) {
      const p = parameters[i]!;
      const g = gradients[i]!;
      const m = fround(fround(meanKept * mean[i]!) + fround(meanShare * g));
      const v = fround(fround(squareKept * square[i]!) + fround(fround(squareShare * g) * g));
      const moved = fround(fround(rate * m) / fround(fround(Math.sqrt(v)) + epsilon));
      mean[i] = m;
      square[i] = v;
      parameters[i] = p - fround(moved + fround((i < decays ? decay : 0) * p));
    }
  },
  add(into, from) {
    for (let i = 0; i < into.length; i++) into[i]! += from[i]!;
  },
  squares(x) {
    const sums = new Float64Array(8);
    const eights = x.length - (x.length % 8);
    for (let i = 0; i < eights; i++) sums[i % 8]! += x[i]! * x[i]!;
    const pair = (i: number): number => sums[i]! + sums[i + 2]! + (sums[i + 4]! + sums[i + 6]!);
    let sum = pair(0) + pair(1);
    for (let i = eights; i < x.length; i++) sum += x[i]! * x[i]!;
    return sum;
  },
};
