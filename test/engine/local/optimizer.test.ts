import { describe, expect, it } from "vitest";
import { adamFactors } from "../../../src/autodiff/adamw.ts";
import { random } from "../../../src/base/random.ts";
import { makeOptimizer, sharedPart } from "../../../src/engine/local/optimizer.ts";
import type { ParameterTensors } from "../../../src/engine/local/parameter-tensors.ts";
import { sharedTraining } from "../../../src/engine/local/trained-state.ts";
import { decayingSize, totalSize, type ParameterSpec } from "../../../src/models/parameters.ts";
import type { Device } from "../../../src/onnx/device.ts";

const adam = {
  ...{ learningRate: 1e-2, beta1: 0.9, beta2: 0.99, epsilon: 1e-8 },
  ...{ weightDecay: 0.1, gradClipNorm: Infinity },
};
// More than two blocks of a single worker's loop; the decaying part ends within the third.
const specs = [
  { name: "matrix", shape: [5, 7001], decays: true },
  { name: "vector", shape: [11], decays: false },
] as unknown as ParameterSpec[];
const size = totalSize(specs);
const host = { resident: false } as Device;
const STEPS = 3;

function numbers(seed: string): Float32Array {
  const draw = random(seed);
  return Float32Array.from({ length: size }, () => draw.normal());
}

const inMemory = (flat: Float32Array): ParameterTensors =>
  ({ read: () => Promise.resolve(flat) }) as unknown as ParameterTensors;

/** One worker, whose optimizer is saved and loaded before step `resumed`. */
async function byOne(resumed: number | null): Promise<{ weights: Float32Array; norms: number[] }> {
  const weights = numbers("weights");
  const norms: number[] = [];
  let optimizer = await makeOptimizer(host, specs);
  for (let step = 1; step <= STEPS; step++) {
    if (step === resumed) {
      const state = await optimizer.read();
      optimizer = await makeOptimizer(host, specs);
      await optimizer.write(state);
    }
    const gradients = inMemory(numbers(String(step)));
    norms.push(await optimizer.apply(inMemory(weights), gradients, adam));
  }
  return { weights, norms };
}

function byWorkers(count: number): { weights: Float32Array; norms: number[] } {
  const shared = sharedTraining(size, count);
  const parts = shared.gradients.map((_, rank) => sharedPart(shared, rank, decayingSize(specs)));
  shared.weights.set(numbers("weights"));
  const norms: number[] = [];
  for (let step = 1; step <= STEPS; step++) {
    // All of the gradient is the last worker's.
    const own = shared.gradients.map(() => new Float32Array(size));
    own.at(-1)!.set(numbers(String(step)));
    parts.forEach((part, rank) => {
      part.share(own[rank]!);
    });
    expect(own.at(-1)!.every((g) => g === 0)).toBe(true);
    const norm = Math.sqrt(parts.reduce((sum, part) => sum + part.sum(), 0));
    for (const part of parts) part.step(adamFactors(adam, step, norm));
    norms.push(norm);
  }
  return { weights: shared.weights, norms };
}

describe("an optimizer step", () => {
  it.each([1, 2, 3, 5])("gives the bits of one worker with %d", async (workers) => {
    const one = await byOne(null);
    const found = byWorkers(workers);
    expect(found.weights.every((weight, i) => Object.is(weight, one.weights[i]))).toBe(true);
    expect(found.weights).not.toEqual(numbers("weights"));
    found.norms.forEach((norm, i) => {
      expect(norm).toBeCloseTo(Math.hypot(...numbers(String(i + 1))), 9);
      expect(norm).toBeCloseTo(one.norms[i]!, 9);
    });
  });

  it("gives the same bits after its state was saved and loaded", async () => {
    expect((await byOne(2)).weights).toEqual((await byOne(null)).weights);
  });
});
