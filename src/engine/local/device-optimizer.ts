import {
  adamFactorNames,
  adamFactors,
  adamW,
  squaredNorm,
  type AdamFactors,
} from "../../autodiff/adamw.ts";
import { Graph, type Value } from "../../autodiff/graph.ts";
import type { ParameterSpec } from "../../models/parameters.ts";
import type { Device } from "../../onnx/device.ts";
import { floats, tensorOf, type Session, type Tensor } from "../../onnx/session.ts";
import type { Optimizer } from "./optimizer.ts";
import { parameterTensors, type ParameterTensors } from "./parameter-tensors.ts";

const KINDS = ["parameter", "gradient", "mean", "square"] as const;

/** AdamW as graphs over tensors in a device's own memory, where the moments stay. */
export async function deviceOptimizer(
  device: Device,
  specs: readonly ParameterSpec[],
): Promise<Optimizer> {
  const mean = await parameterTensors(device, specs);
  const square = await parameterTensors(device, specs);
  const norm = await normSession(device, specs);
  const update = await updateSession(device, specs);
  let step = 0;
  return {
    async apply(weights, gradients, options) {
      step += 1;
      const found = await norm.run(named("gradient", gradients));
      const gradNorm = Math.sqrt(floats(found["squaredNorm"]!)[0]!);
      const factors = adamFactors(options, step, gradNorm);
      const feeds: Record<string, Tensor> = {
        ...named("parameter", weights),
        ...named("gradient", gradients),
        ...named("mean", mean),
        ...named("square", square),
      };
      const fetches: Record<string, Tensor> = {};
      for (const [name, tensor] of Object.entries(feeds)) fetches[`${name}.next`] = tensor;
      for (const name of adamFactorNames)
        feeds[name] = tensorOf(Float32Array.of(factors[name]), [1]);
      await update.run(feeds, fetches);
      return gradNorm;
    },
    read: async () => ({ mean: await mean.read(), square: await square.read(), step }),
    async write(state) {
      step = state?.step ?? 0;
      if (state === null) {
        await mean.clear();
        await square.clear();
      } else {
        await mean.write(state.mean);
        await square.write(state.square);
      }
    },
  };
}

function named(
  kind: (typeof KINDS)[number],
  { tensors }: ParameterTensors,
): Record<string, Tensor> {
  return Object.fromEntries([...tensors].map(([name, tensor]) => [`${kind}.${name}`, tensor]));
}

function normSession(device: Device, specs: readonly ParameterSpec[]): Promise<Session> {
  const graph = new Graph();
  const gradients = specs.map(({ name, shape }) =>
    graph.input(`gradient.${name}`, "float32", shape),
  );
  return device.compile(graph, { squaredNorm: squaredNorm(gradients) });
}

function updateSession(device: Device, specs: readonly ParameterSpec[]): Promise<Session> {
  const graph = new Graph();
  const factors = Object.fromEntries(
    adamFactorNames.map((name) => [name, graph.input(name, "float32", [1])]),
  ) as unknown as AdamFactors<Value>;
  const states = specs.map(({ name, shape, decays }) => {
    const [parameter, gradient, mean, square] = KINDS.map((kind) =>
      graph.input(`${kind}.${name}`, "float32", shape),
    ) as [Value, Value, Value, Value];
    return { parameter, gradient, mean, square, decays };
  });
  const outputs: Record<string, Value> = {};
  adamW(states, factors).forEach((next, i) => {
    for (const [kind, value] of Object.entries(next)) {
      outputs[`${kind}.${specs[i]!.name}.next`] = value;
    }
  });
  return device.compile(graph, outputs);
}
