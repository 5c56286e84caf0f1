import { adamStep, type AdamFactors } from "../../autodiff/adamw.ts";
import type { SharedTraining } from "./messages.ts";

/** One worker's part of the optimiser's step over memory that all workers share: an equal stretch of every array. */
export interface SharedPart {
  /** Hands over what this worker has accumulated, which is then zero. */
  share(gradients: Float32Array): void;
  /** Sums everybody's gradients over the own stretch, once all have shared. @returns Σ g² there. */
  sum(): number;
  /** Steps the own stretch, once all have summed. */
  step(factors: AdamFactors): void;
}

/** @param decays elements before this index decay. */
export function sharedPart(shared: SharedTraining, rank: number, decays: number): SharedPart {
  const { gradients } = shared;
  const [summed, ...others] = gradients as readonly [Float32Array, ...Float32Array[]];
  const from = Math.floor((rank * summed.length) / gradients.length);
  const to = Math.floor(((rank + 1) * summed.length) / gradients.length);
  return {
    share(own) {
      gradients[rank]!.set(own);
      own.fill(0);
    },
    sum() {
      for (const other of others) {
        for (let i = from; i < to; i++) summed[i]! += other[i]!;
      }
      let squares = 0;
      for (let i = from; i < to; i++) squares += summed[i]! * summed[i]!;
      return squares;
    },
    step(factors) {
      const { weights: parameters, mean, square } = shared;
      adamStep({ parameters, gradients: summed, mean, square }, { from, to, decays }, factors);
    },
  };
}
