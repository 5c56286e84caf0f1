import { describe, expect, it } from "vitest";
import { adamFactors } from "../../src/autodiff/adamw.ts";
import { adamLoops, adamRoom, type AdamArrays } from "../../src/autodiff/adam-loops.ts";
import { random } from "../../src/base/random.ts";

const options = {
  learningRate: 1e-3,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0.01,
  gradClipNorm: 1,
};
const kinds = ["parameters", "gradients", "mean", "square"] as const;

/** Arrays of numbers from 1e-12 to 1, of both signs, where the loops of `code` reach them. */
function filled(size: number, code: "simd" | "shared" | "plain", seed = "adam") {
  const options = code === "plain" ? { api: null } : { shared: code === "shared" };
  const { memory, arrays } = adamRoom([size, size, size, size], options);
  expect(memory === null).toBe(code === "plain");
  const draw = random(`${seed}/${size}`);
  const number = (): number => 10 ** (-12 * draw.next()) * (draw.next() < 0.5 ? -1 : 1);
  for (const array of arrays) for (let i = 0; i < size; i++) array[i] = number();
  const named = Object.fromEntries(kinds.map((kind, k) => [kind, arrays[k]!]));
  const all = named as unknown as AdamArrays;
  // A gradient's square has its size.
  for (let i = 0; i < size; i++) all.square[i] = all.gradients[i]! ** 2 * draw.next();
  return { arrays: all, loops: adamLoops(memory) };
}

const bits = (array: Float32Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

function expectSameBits(some: AdamArrays, others: AdamArrays): void {
  for (const kind of kinds) {
    expect(Buffer.compare(bits(some[kind]), bits(others[kind])), kind).toBe(0);
  }
}

describe("the loops of AdamW in WebAssembly", () => {
  it.each([0, 1, 2, 3, 4, 5, 7, 8, 11, 4099])(
    "give the bits of those in JavaScript, %d elements",
    (size) => {
      const all = (["plain", "simd", "shared"] as const).map((code) => filled(size, code));
      const [plain, ...others] = all as [(typeof all)[0], ...typeof all];
      const decays = Math.floor(size / 3);
      for (let step = 1; step <= 3; step++) {
        const factors = adamFactors(options, step, 40);
        for (const { arrays, loops } of all) {
          loops.step(arrays, { from: 0, to: size, decays }, factors);
        }
      }
      for (const { arrays, loops } of all) loops.add(arrays.parameters, arrays.gradients);
      for (const { arrays } of others) expectSameBits(arrays, plain.arrays);
      const sums = all.map(({ arrays, loops }) => loops.squares(arrays.parameters));
      expect(new Set(sums).size).toBe(1);
    },
  );

  it("give one result wherever ranges are cut, and change nothing outside of them", () => {
    const size = 103;
    const whole = filled(size, "simd");
    const factors = adamFactors(options, 1, 0.5);
    whole.loops.step(whole.arrays, { from: 0, to: size, decays: 50 }, factors);
    for (let cut = 0; cut <= size; cut++) {
      const parts = filled(size, "simd");
      const untouched = filled(size, "simd").arrays;
      parts.loops.step(parts.arrays, { from: cut, to: size, decays: 50 }, factors);
      for (const kind of kinds) {
        const [before, found] = [untouched, parts.arrays].map((all) => all[kind].subarray(0, cut));
        expect(found).toEqual(before);
      }
      parts.loops.step(parts.arrays, { from: 0, to: cut, decays: 50 }, factors);
      expectSameBits(parts.arrays, whole.arrays);
    }
  });

  it("sum squares in float64", () => {
    const { arrays, loops } = filled(4099, "simd");
    const exact = arrays.parameters.reduce((sum, x) => sum + x * x, 0);
    expect(Math.abs(loops.squares(arrays.parameters) / exact - 1)).toBeLessThan(1e-14);
    arrays.parameters.fill(1e30);
    expect(loops.squares(arrays.parameters) / 4.099e63).toBeCloseTo(1, 6);
  });

  it("pass on what is not a number", () => {
    const { arrays, loops } = filled(6, "simd");
    arrays.gradients[1] = NaN;
    arrays.gradients[5] = Infinity;
    loops.step(arrays, { from: 0, to: 6, decays: 0 }, adamFactors(options, 1, 0.5));
    expect([...arrays.parameters].map(Number.isFinite)).toEqual([
      true,
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(loops.squares(arrays.gradients)).toBe(NaN);
  });
});

/** A step of element `i` in float64: the terms of each new moment, the change, and the size of the change's terms. */
function exactStep(arrays: AdamArrays, i: number, step: number, norm: number) {
  const { learningRate, beta1, beta2, epsilon, weightDecay, gradClipNorm } = options;
  const g = (arrays.gradients[i]! * gradClipNorm) / (norm + 1e-6);
  const mean = [beta1 * arrays.mean[i]!, (1 - beta1) * g] as const;
  const square = [beta2 * arrays.square[i]!, (1 - beta2) * g * g] as const;
  const root = Math.sqrt((square[0] + square[1]) / (1 - beta2 ** step)) + epsilon;
  const rate = learningRate / (1 - beta1 ** step) / root;
  const decayed = learningRate * weightDecay * arrays.parameters[i]!;
  const change = rate * (mean[0] + mean[1]) + decayed;
  return { mean, square, change, size: rate * sizeOf(mean) + Math.abs(decayed) };
}

const sizeOf = ([a, b]: readonly [number, number]): number => Math.abs(a) + Math.abs(b);

describe("the rounding of AdamW's loops", () => {
  it.each([1, 2, 100, 100_000])("is within its bound in step %d", (step) => {
    const size = 20_000;
    const { arrays, loops } = filled(size, "simd", String(step));
    const before = filled(size, "simd", String(step)).arrays;
    const norm = 3;
    loops.step(arrays, { from: 0, to: size, decays: size }, adamFactors(options, step, norm));
    const worst = { mean: 0, square: 0, change: 0 };
    for (let i = 0; i < size; i++) {
      const exact = exactStep(before, i, step, norm);
      for (const kind of ["mean", "square"] as const) {
        const [kept, share] = exact[kind];
        const off = Math.abs(arrays[kind][i]! - (kept + share)) / sizeOf(exact[kind]);
        worst[kind] = Math.max(worst[kind], off);
      }
      const [found, expected] = [arrays.parameters[i]!, before.parameters[i]! - exact.change];
      // Half a unit in the last place, which the parameter itself is rounded by.
      const own = 2 ** -24 * Math.max(Math.abs(found), Math.abs(expected));
      worst.change = Math.max(worst.change, (Math.abs(found - expected) - own) / exact.size);
    }
    expect(worst.mean).toBeLessThan(2e-7);
    expect(worst.square).toBeLessThan(2e-7);
    expect(worst.change).toBeLessThan(5e-7);
  });
});
