import { adamW, type AdamScalars } from "../../autodiff/adamw.ts";
import { Graph, type Value } from "../../autodiff/graph.ts";
import type { ParameterSpec } from "../../models/parameters.ts";
import { createSession, floats, tensorOf, type Tensor } from "../../onnx/session.ts";
import type { AdamOptions } from "../engine.ts";
import type { ModelWeights } from "./model-weights.ts";

/** AdamW over what is trained of a model, in place. */
export interface Optimizer {
  /** Moments in the order of `trainedSpecs`, and the number of steps behind them: what a checkpoint keeps. */
  readonly mean: Float32Array;
  readonly square: Float32Array;
  step: number;
  /** Changes `weights.flat`; the transposed copies are the caller's to refresh. @returns the norm before clipping. */
  apply(weights: ModelWeights, gradients: Float32Array, options: AdamOptions): Promise<number>;
}

const scalarNames = [
  "learningRate",
  "beta1",
  "beta2",
  "epsilon",
  "weightDecay",
  "meanCorrection",
  "squareCorrection",
  "maxNorm",
] as const satisfies readonly (keyof AdamScalars)[];

/** Parameters in two stretches of the flat arrays: a step is then some thirty passes over memory, however many tensors there are. */
const STRETCHES = ["matrices", "vectors"] as const;

/** @param specs what is trained, matrices before vectors. */
export async function makeOptimizer(
  specs: readonly ParameterSpec[],
  threads: number,
): Promise<Optimizer> {
  const sizes = stretchSizes(specs);
  const stretches = STRETCHES.filter((stretch) => sizes[stretch] > 0);
  const total = sizes.matrices + sizes.vectors;
  const mean = new Float32Array(total);
  const square = new Float32Array(total);
  const graph = new Graph();
  const scalars = Object.fromEntries(
    scalarNames.map((name) => [name, graph.input(name, "float32", [])]),
  ) as unknown as AdamScalars;
  const states = stretches.map((stretch) => {
    const input = (kind: string): Value =>
      graph.input(`${kind}.${stretch}`, "float32", [sizes[stretch]]);
    return {
      ...{ parameter: input("parameter"), gradient: input("gradient") },
      ...{ mean: input("mean"), square: input("square"), decays: stretch === "matrices" },
    };
  });
  const { next, norm } = adamW(states, scalars);
  const outputs: Record<string, Value> = { norm };
  stretches.forEach((stretch, i) => {
    for (const [kind, value] of Object.entries(next[i]!))
      outputs[`${kind}.${stretch}.next`] = value;
  });
  const session = await createSession(graph, outputs, { threads });
  const optimizer: Optimizer = {
    ...{ mean, square, step: 0 },
    async apply(weights, gradient, options) {
      optimizer.step += 1;
      const values: Record<(typeof scalarNames)[number], number> = {
        ...options,
        meanCorrection: 1 / (1 - options.beta1 ** optimizer.step),
        squareCorrection: 1 / (1 - options.beta2 ** optimizer.step),
        maxNorm: options.gradClipNorm,
      };
      const feeds: Record<string, Tensor> = {};
      const fetches: Record<string, Tensor> = {};
      for (const [kind, flat] of Object.entries({
        parameter: weights.flat,
        gradient,
        mean,
        square,
      })) {
        for (const stretch of stretches) {
          const from = stretch === "matrices" ? 0 : sizes.matrices;
          const tensor = tensorOf(flat.subarray(from, from + sizes[stretch]), [sizes[stretch]]);
          feeds[`${kind}.${stretch}`] = tensor;
          if (kind !== "gradient") fetches[`${kind}.${stretch}.next`] = tensor;
        }
      }
      for (const name of scalarNames) feeds[name] = tensorOf(Float32Array.of(values[name]), []);
      const result = await session.run(feeds, fetches);
      return floats(result["norm"]!)[0]!;
    },
  };
  return optimizer;
}

function stretchSizes(specs: readonly ParameterSpec[]): Record<(typeof STRETCHES)[number], number> {
  const sizes = { matrices: 0, vectors: 0 };
  for (const { shape, decays } of specs) {
    sizes[decays ? "matrices" : "vectors"] += shape.reduce((n, axis) => n * axis, 1);
  }
  return sizes;
}
