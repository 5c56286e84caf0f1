import { adamW, type AdamScalars } from "../../autodiff/adamw.ts";
import { Graph, type Value } from "../../autodiff/graph.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { parameterSpecs } from "../../models/parameters.ts";
import { createSession, floats, tensorOf, type Tensor } from "../../onnx/session.ts";
import type { AdamOptions } from "../engine.ts";
import { flatTensors } from "./flat-tensors.ts";
import type { ModelWeights } from "./model-weights.ts";

/** AdamW over one model's parameters, in place. */
export interface Optimizer {
  /** Moments in the order of `parameterSpecs`, and the number of steps behind them: what a checkpoint keeps. */
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

export async function makeOptimizer(config: DecoderConfig, threads: number): Promise<Optimizer> {
  const specs = parameterSpecs(config);
  const kinds = {
    gradient: flatTensors(specs),
    mean: flatTensors(specs),
    square: flatTensors(specs),
  };
  const graph = new Graph();
  const scalars = Object.fromEntries(
    scalarNames.map((name) => [name, graph.input(name, "float32", [])]),
  ) as unknown as AdamScalars;
  const states = specs.map(({ name, shape, decays }) => ({
    parameter: graph.input(name, "float32", shape),
    gradient: graph.input(`gradient.${name}`, "float32", shape),
    mean: graph.input(`mean.${name}`, "float32", shape),
    square: graph.input(`square.${name}`, "float32", shape),
    decays,
  }));
  const { next, norm } = adamW(states, scalars);
  const outputs: Record<string, Value> = { norm };
  specs.forEach(({ name }, i) => {
    outputs[`${name}.next`] = next[i]!.parameter;
    outputs[`mean.${name}.next`] = next[i]!.mean;
    outputs[`square.${name}.next`] = next[i]!.square;
  });
  const session = await createSession(graph, outputs, { threads });
  const state: Record<string, Tensor> = {};
  const nextState: Record<string, Tensor> = {};
  for (const [kind, { tensors }] of Object.entries(kinds)) {
    for (const [name, tensor] of tensors) {
      state[`${kind}.${name}`] = tensor;
      if (kind !== "gradient") nextState[`${kind}.${name}.next`] = tensor;
    }
  }
  const optimizer: Optimizer = {
    mean: kinds.mean.flat,
    square: kinds.square.flat,
    step: 0,
    async apply(weights, gradients, options) {
      kinds.gradient.flat.set(gradients);
      optimizer.step += 1;
      const values: Record<(typeof scalarNames)[number], number> = {
        ...options,
        meanCorrection: 1 / (1 - options.beta1 ** optimizer.step),
        squareCorrection: 1 / (1 - options.beta2 ** optimizer.step),
        maxNorm: options.gradClipNorm,
      };
      const feeds: Record<string, Tensor> = { ...weights.feeds, ...state };
      for (const name of scalarNames) feeds[name] = tensorOf(Float32Array.of(values[name]), []);
      const fetches = { ...nextState };
      for (const { name } of specs) fetches[`${name}.next`] = weights.feeds[name]!;
      const result = await session.run(feeds, fetches);
      return floats(result["norm"]!)[0]!;
    },
  };
  return optimizer;
}
