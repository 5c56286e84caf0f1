import { adamFactors, adamStep, type AdamOptions } from "../../autodiff/adamw.ts";
import { decayingSize, totalSize, type ParameterSpec } from "../../models/parameters.ts";
import type { Device } from "../../onnx/device.ts";
import { deviceOptimizer } from "./device-optimizer.ts";
import type { OptimizerState } from "./messages.ts";
import type { ParameterTensors } from "./parameter-tensors.ts";

/** AdamW over all that is trained of one replica, with the moments. */
export interface Optimizer {
  /** Steps the weights in place; copies of them are the caller's to refresh. @returns the norm of the gradients before clipping. */
  apply(
    weights: ParameterTensors,
    gradients: ParameterTensors,
    options: AdamOptions,
  ): Promise<number>;
  read(): Promise<OptimizerState>;
  /** null: no steps yet. */
  write(state: OptimizerState | null): Promise<void>;
}

/** @param specs what is trained. */
export function makeOptimizer(device: Device, specs: readonly ParameterSpec[]): Promise<Optimizer> {
  return device.resident ? deviceOptimizer(device, specs) : Promise.resolve(hostOptimizer(specs));
}

function hostOptimizer(specs: readonly ParameterSpec[]): Optimizer {
  const size = totalSize(specs);
  const mean = new Float32Array(size);
  const square = new Float32Array(size);
  let step = 0;
  return {
    async apply(weights, gradients, options) {
      step += 1;
      const summed = await gradients.read();
      const arrays = { parameters: await weights.read(), gradients: summed, mean, square };
      let squares = 0;
      for (const g of summed) squares += g * g;
      const norm = Math.sqrt(squares);
      const stretch = { from: 0, to: size, decays: decayingSize(specs) };
      adamStep(arrays, stretch, adamFactors(options, step, norm));
      return norm;
    },
    read: () => Promise.resolve({ mean: mean.slice(), square: square.slice(), step }),
    write: (state) => {
      step = state?.step ?? 0;
      if (state === null) {
        mean.fill(0);
        square.fill(0);
      } else {
        mean.set(state.mean);
        square.set(state.square);
      }
      return Promise.resolve();
    },
  };
}
