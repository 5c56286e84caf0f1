import { describe, expect, it } from "vitest";
import type { TrainingState } from "../../../src/engine/local/messages.ts";
import {
  type TrainedState,
  refuseAfterFailedStep,
} from "../../../src/engine/local/trained-state.ts";

const adam = {
  learningRate: 0.1,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
  gradClipNorm: 1,
};

/** A state whose steps fail while it is told so. */
function fragile(failure: { now: Error | null }): TrainedState {
  let weights: Float32Array = Float32Array.of(1);
  const optimizer = { mean: Float32Array.of(0), square: Float32Array.of(0), step: 0 };
  return {
    optimStep() {
      weights[0]! += 1;
      return failure.now === null ? Promise.resolve({ gradNorm: 1 }) : Promise.reject(failure.now);
    },
    read: (): Promise<TrainingState> => Promise.resolve({ weights, optimizer }),
    write(written) {
      weights = written;
      return Promise.resolve();
    },
  };
}

describe("a state that is read only while it is whole", () => {
  it("is not read after a step that failed half-way, so that no checkpoint of it is written", async () => {
    const failure: { now: Error | null } = { now: null };
    const state = refuseAfterFailedStep(fragile(failure));
    await state.optimStep(adam);
    expect((await state.read()).weights).toEqual(Float32Array.of(2));
    failure.now = new Error("worker 2 stalled");
    await expect(state.optimStep(adam)).rejects.toThrow("worker 2 stalled");
    await expect(state.read()).rejects.toThrow("worker 2 stalled");
  });

  it("is read again once all of it was written anew", async () => {
    const failure = { now: new Error("no memory") };
    const state = refuseAfterFailedStep(fragile(failure));
    await expect(state.optimStep(adam)).rejects.toThrow("no memory");
    await state.write(Float32Array.of(7), null);
    expect((await state.read()).weights).toEqual(Float32Array.of(7));
  });
});
