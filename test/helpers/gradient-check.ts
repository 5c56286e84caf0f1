import { backward } from "../../src/autodiff/backward.ts";
import { Graph, sizeOf, type DType, type Value } from "../../src/autodiff/graph.ts";
import { random } from "../../src/base/random.ts";
import { createSession, tensorOf, zeros, type Tensor } from "../../src/onnx/session.ts";

export interface CheckedInput {
  shape: readonly number[];
  low?: number;
  high?: number;
  frozen?: boolean;
  ints?: readonly number[];
  intType?: "int32" | "int64";
  bools?: readonly boolean[];
}

export interface GradientCheck {
  /** Largest |numeric − ours| over all inputs, divided by the largest |numeric| (at least 1e-3). */
  relativeError: number;
  /** Number of derivatives compared. */
  compared: number;
}

/**
 * Compares `backward` with central differences of a scalar made of random weights times the outputs.
 * In float64 the step is 1e-5; in float32, for kernels that have no float64, 1e-2 with sums taken in float64.
 */
export async function checkGradient(
  inputs: readonly CheckedInput[],
  build: (values: Value[]) => Value,
  dtype: "float64" | "float32" = "float64",
): Promise<GradientCheck> {
  const graph = new Graph();
  const draw = random("gradient-check");
  const values = inputs.map((input, i) => toValue(graph, input, i, dtype));
  const output = build(values);
  const weights = graph.input("weights", dtype, output.shape);
  const { mul } = await import("../../src/autodiff/ops/elementwise.ts");
  const { reduceSum } = await import("../../src/autodiff/ops/reduce.ts");
  const axes = output.shape.map((_, i) => i);
  const weighted = mul([output, weights]);
  const loss = axes.length === 0 ? weighted : reduceSum(weighted, axes);
  const wrt = values.filter((_, i) => isChecked(inputs[i]!));
  const gradients = backward(loss, wrt);
  const outputs = {
    out: output,
    ...Object.fromEntries(gradients.map((each, i) => [`d_${i}`, each])),
  };
  const session = await createSession(graph, outputs, { threads: 1 });
  const feeds: Record<string, Tensor> = {
    weights: filled(dtype, output.shape, () => draw.normal()),
  };
  inputs.forEach((input, i) => {
    feeds[`x_${i}`] = toTensor(input, dtype, () => draw.next());
  });
  const analytic = await session.run(feeds);
  const value = async (): Promise<number> => {
    const { out } = await session.run(feeds);
    const y = out!.data as Float64Array;
    const w = feeds["weights"]!.data as Float64Array;
    return y.reduce((sum: number, each: number, i: number) => sum + each * w[i]!, 0);
  };
  const step = dtype === "float64" ? 1e-5 : 1e-2;
  let worst = 0;
  let scale = 1e-3;
  let compared = 0;
  for (const [k, input] of wrt.entries()) {
    const data = feeds[input.name]!.data as Float64Array;
    const ours = analytic[`d_${k}`]!.data as Float64Array;
    for (let i = 0; i < data.length; i++) {
      const kept = data[i]!;
      data[i] = kept + step;
      const above = data[i]!;
      const high = await value();
      data[i] = kept - step;
      const below = data[i]!;
      const low = await value();
      data[i] = kept;
      const numeric = (high - low) / (above - below);
      worst = Math.max(worst, Math.abs(numeric - ours[i]!));
      scale = Math.max(scale, Math.abs(numeric));
      compared += 1;
    }
  }
  await session.release();
  return { relativeError: worst / scale, compared };
}

function isChecked(input: CheckedInput): boolean {
  return input.ints === undefined && input.bools === undefined && input.frozen !== true;
}

function toValue(graph: Graph, input: CheckedInput, i: number, dtype: DType): Value {
  // Short integer vectors may be shape arguments, which graphs need as constants.
  if (input.ints !== undefined && input.intType === undefined) {
    return graph.constant("int64", input.shape, input.ints);
  }
  const type =
    input.ints !== undefined ? input.intType! : input.bools !== undefined ? "bool" : dtype;
  return graph.input(`x_${i}`, type, input.shape);
}

function toTensor(input: CheckedInput, dtype: "float64" | "float32", draw: () => number): Tensor {
  if (input.bools !== undefined) {
    return tensorOf(new Uint8Array(input.bools.map(Number)), input.shape, "bool");
  }
  if (input.ints !== undefined) {
    return input.intType === "int32"
      ? tensorOf(new Int32Array(input.ints), input.shape)
      : tensorOf(new BigInt64Array(input.ints.map(BigInt)), input.shape);
  }
  const { low = -1, high = 1 } = input;
  return filled(dtype, input.shape, () => low + (high - low) * draw());
}

function filled(dtype: DType, shape: readonly number[], draw: () => number): Tensor {
  const tensor = zeros(dtype, shape);
  const data = tensor.data as Float64Array;
  for (let i = 0; i < sizeOf(shape); i++) data[i] = draw();
  return tensor;
}
