import { describe, expect, it } from "vitest";
import { adamFactors } from "../../../src/autodiff/adamw.ts";
import { random } from "../../../src/base/random.ts";
import { hostOptimizer, sharedPart, trainedRoom } from "../../../src/engine/local/optimizer.ts";
import { sharedTraining } from "../../../src/engine/local/trained-state.ts";
import { decayingSize, totalSize, type ParameterSpec } from "../../../src/models/parameters.ts";

const adam = {
  learningRate: 1e-2,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-8,
  weightDecay: 0.1,
  gradClipNorm: Infinity,
};
const specs = [
  { name: "matrix", shape: [5, 7001], decays: true },
  { name: "vector", shape: [11], decays: false },
] as unknown as ParameterSpec[];
const size = totalSize(specs);
const STEPS = 3;

function numbers(seed: string): Float32Array {
  const draw = random(seed);
  return Float32Array.from({ length: size }, () => draw.normal());
}

/** One worker, whose optimizer is saved and loaded before step `resumed`. */
async function byOne(resumed: number | null): Promise<{ weights: Float32Array; norms: number[] }> {
  let room = trainedRoom(size);
  room.arrays.parameters.set(numbers("weights"));
  const norms: number[] = [];
  let optimizer = hostOptimizer(specs, room);
  for (let step = 1; step <= STEPS; step++) {
    if (step === resumed) {
      const state = await optimizer.read();
      const { parameters } = room.arrays;
      room = trainedRoom(size);
      room.arrays.parameters.set(parameters);
      optimizer = hostOptimizer(specs, room);
      await optimizer.write(state);
    }
    room.arrays.gradients.set(numbers(String(step)));
    norms.push(await optimizer.apply(adam));
  }
  return { weights: room.arrays.parameters, norms };
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
