import {
  adamLoops,
  adamRoom,
  type AdamArrays,
  type AdamMemory,
} from "../../autodiff/adam-loops.ts";
import {
  adamFactorNames,
  adamFactors,
  adamW,
  squaredNorm,
  type AdamFactors,
  type AdamOptions,
} from "../../autodiff/adamw.ts";
import { Graph, type Value } from "../../autodiff/graph.ts";
import { decayingSize, totalSize, type ParameterSpec } from "../../models/parameters.ts";
import type { Device } from "../../onnx/device.ts";
import { floats, tensorOf, type Session, type Tensor } from "../../onnx/session.ts";
import type { OptimizerState, SharedTraining } from "./messages.ts";
import { parameterTensors, type ParameterTensors } from "./parameter-tensors.ts";

/** AdamW over all trained parameters of one replica, with its moments. */
export interface Optimizer {
  /** Updates the weights in place; the caller must refresh copies of them. @returns the gradient norm before clipping. */
  apply(options: AdamOptions): Promise<number>;
  read(): Promise<OptimizerState>;
  /** Null resets the moments. */
  write(state: OptimizerState | null): Promise<void>;
}

/** Arrays of a replica that trains alone, in host memory. The runtime's tensors are views of the first two. */
export type TrainedRoom = { readonly arrays: AdamArrays; readonly memory: AdamMemory | null };

/** Zeros, which take no memory until they are written. @param size number of trained numbers. */
export function trainedRoom(size: number): TrainedRoom {
  const { memory, arrays } = adamRoom([size, size, size, size]);
  const [parameters, gradients, mean, square] = arrays as AdamRoomOfOne;
  return { memory, arrays: { parameters, gradients, mean, square } };
}

type AdamRoomOfOne = readonly [Float32Array, Float32Array, Float32Array, Float32Array];

type Trained = { weights: ParameterTensors; gradients: ParameterTensors };

/** AdamW as loops over a room's arrays. @param specs the trained parameters. */
export function hostOptimizer(specs: readonly ParameterSpec[], room: TrainedRoom): Optimizer {
  const { gradients, mean, square } = room.arrays;
  const loops = adamLoops(room.memory);
  const range = { from: 0, to: totalSize(specs), decays: decayingSize(specs) };
  let step = 0;
  return {
    apply(options) {
      step += 1;
      const norm = Math.sqrt(loops.squares(gradients));
      loops.step(room.arrays, range, adamFactors(options, step, norm));
      return Promise.resolve(norm);
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

const KINDS = ["parameter", "gradient", "mean", "square"] as const;

/** AdamW as graphs over tensors in device memory, where the moments stay. */
export async function deviceOptimizer(
  device: Device,
  specs: readonly ParameterSpec[],
  { weights, gradients }: Trained,
): Promise<Optimizer> {
  const mean = await parameterTensors(device, specs);
  const square = await parameterTensors(device, specs);
  const norm = await normSession(device, specs);
  const update = await updateSession(device, specs);
  let step = 0;
  return {
    async apply(options) {
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
    for (const [kind, value] of Object.entries(next))
      outputs[`${kind}.${specs[i]!.name}.next`] = value;
  });
  return device.compile(graph, outputs);
}

/** One worker's part of the optimizer step over shared memory: an equal range of every array. */
export interface SharedPart {
  share(gradients: Float32Array): void;
  /** Sums all workers' gradients over this worker's range, after all have shared. @returns Σ g² of the range. */
  sum(): number;
  step(factors: AdamFactors): void;
}

/** @param decays number of leading elements with weight decay. */
export function sharedPart(shared: SharedTraining, rank: number, decays: number): SharedPart {
  const { gradients, weights: parameters, mean, square } = shared;
  const loops = adamLoops(shared.memory);
  const [summed, ...others] = gradients as readonly [Float32Array, ...Float32Array[]];
  const from = Math.floor((rank * summed.length) / gradients.length);
  const to = Math.floor(((rank + 1) * summed.length) / gradients.length);
  return {
    share(own) {
      gradients[rank]!.set(own);
      own.fill(0);
    },
    sum() {
      const part = summed.subarray(from, to);
      for (const other of others) loops.add(part, other.subarray(from, to));
      return loops.squares(part);
    },
    step(factors) {
      loops.step({ parameters, gradients: summed, mean, square }, { from, to, decays }, factors);
    },
  };
}
