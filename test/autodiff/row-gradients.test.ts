import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { backward } from "../../src/autodiff/backward.ts";
import { Graph, type Value } from "../../src/autodiff/graph.ts";
import { targetLogprob } from "../../src/autodiff/ops/composites.ts";
import { mul } from "../../src/autodiff/ops/elementwise.ts";
import { gemm } from "../../src/autodiff/ops/linear.ts";
import { reduceSum } from "../../src/autodiff/ops/reduce.ts";
import { rowGradients } from "../../src/autodiff/row-gradients.ts";
import { emitModel } from "../../src/onnx/emit.ts";
import { ModelProtoSchema } from "../../src/onnx/schema/onnx_pb.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";
import { errorWith } from "../helpers/error-with.ts";

const WEIGHT = Float32Array.from({ length: 15 }, (_, i) => Math.sin(3 * i));
const FEEDS = {
  x: tensorOf(Float32Array.of(0.1, -0.2, 0.3, 0.4, 0.5, -0.6), [2, 3]),
  w: tensorOf(WEIGHT, [5, 3]),
  targets: tensorOf(Int32Array.of(4, 1), [2, 1]),
  weights: tensorOf(Float32Array.of(0.25, -2), [2, 1]),
};

/** Σ weight · log p(target) over two rows of five classes, and its derivative by x. */
function weightedLogprobs(wrap: (build: (x: Value) => Value, x: Value) => Value): {
  graph: Graph;
  outputs: Record<string, Value>;
} {
  const graph = new Graph();
  const x = graph.input("x", "float32", [2, 3]);
  const w = graph.input("w", "float32", [5, 3]);
  const targets = graph.input("targets", "int32", [2, 1]);
  const weights = graph.input("weights", "float32", [2, 1]);
  const logprobs = wrap((rows) => targetLogprob(gemm([rows, w], { transB: 1 }), targets), x);
  const loss = reduceSum(mul([logprobs, weights]), [0, 1]);
  const [dx] = backward(loss, [x]);
  return { graph, outputs: { loss, dx: dx! } };
}

async function results(
  wrap: (build: (x: Value) => Value, x: Value) => Value,
): Promise<Record<string, Float32Array>> {
  const { graph, outputs } = weightedLogprobs(wrap);
  const session = await createSession(graph, outputs, { threads: 1 });
  const made = await session.run(FEEDS);
  await session.release();
  return Object.fromEntries(Object.entries(made).map(([name, each]) => [name, floats(each)]));
}

describe("rowGradients", () => {
  it("gives the block's value to the bit, and its derivative by row", async () => {
    const plain = await results((build, x) => build(x));
    const sloped = await results(rowGradients);
    expect([...sloped["loss"]!]).toEqual([...plain["loss"]!]);
    const off = sloped["dx"]!.map((each, i) => Math.abs(each - plain["dx"]![i]!));
    expect(Math.max(...off)).toBeLessThan(1e-6);
    expect(Math.max(...plain["dx"]!.map(Math.abs))).toBeGreaterThan(0.1);
  });

  it("computes the scores once: two products, of the scores and of the gradient", () => {
    const { graph, outputs } = weightedLogprobs(rowGradients);
    const { graph: made } = fromBinary(ModelProtoSchema, emitModel(graph, outputs));
    expect(made?.node.filter(({ opType }) => opType === "Gemm")).toHaveLength(2);
  });

  it("refuses a block that does not depend on its rows", () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2, 1]);
    const other = graph.input("other", "float32", [2, 1]);
    expect(() => rowGradients(() => mul([other, other]), x)).toThrow(
      errorWith("GRAPH_NO_DERIVATIVE"),
    );
  });
});
