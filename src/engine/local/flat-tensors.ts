import { tensorOf, type Tensor } from "../../onnx/session.ts";
import type { ParameterSpec } from "../../models/parameters.ts";

/** One array that holds every parameter's numbers, and a tensor on each part of it: copied, cleared and sent in one piece. */
export interface FlatTensors {
  readonly flat: Float32Array;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

/** Zeros for every parameter. */
export function flatTensors(specs: readonly ParameterSpec[]): FlatTensors {
  const sizes = specs.map(({ shape }) => shape.reduce((n, axis) => n * axis, 1));
  const flat = new Float32Array(sizes.reduce((sum, size) => sum + size, 0));
  const tensors = new Map<string, Tensor>();
  let at = 0;
  specs.forEach(({ name, shape }, i) => {
    tensors.set(name, tensorOf(flat.subarray(at, at + sizes[i]!), shape));
    at += sizes[i]!;
  });
  return { flat, tensors };
}
