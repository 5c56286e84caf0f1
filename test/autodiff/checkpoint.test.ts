import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { InferenceSession } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { dependOn } from "../../src/autodiff/depend-on.ts";
import { backward } from "../../src/autodiff/backward.ts";
import { checkpoint } from "../../src/autodiff/checkpoint.ts";
import { Graph, type Value } from "../../src/autodiff/graph.ts";
import { linear, swiglu } from "../../src/autodiff/ops/composites.ts";
import { add, exp, mul } from "../../src/autodiff/ops/elementwise.ts";
import { matMul, swapLast } from "../../src/autodiff/ops/linear.ts";
import { reduceSum } from "../../src/autodiff/ops/reduce.ts";
import { split } from "../../src/autodiff/ops/shape.ts";
import { emitModel, neededInputs } from "../../src/onnx/emit.ts";
import { ModelProtoSchema } from "../../src/onnx/schema/onnx_pb.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";
import { errorWith } from "../helpers/error-with.ts";
import { checkGradient } from "../helpers/gradient-check.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

/** Nodes of the model that the runtime makes of a graph, in the order in which it runs them, as "Exp → y". */
async function compiled(graph: Graph, outputs: Record<string, Value>): Promise<string[]> {
  const file = join(folder, "model.onnx");
  const session = await InferenceSession.create(emitModel(graph, outputs), {
    graphOptimizationLevel: "all",
    optimizedModelFilePath: file,
    logSeverityLevel: 3,
  });
  await session.release();
  const { graph: made } = fromBinary(ModelProtoSchema, await readFile(file));
  return made!.node.map(({ opType, output }) => `${opType} → ${output[0]}`);
}

/** y = e^(x · w); `wrap` is what the layer is put into. Three of them, then Σ. */
function layers(wrap: (build: (x: Value) => Value, x: Value) => Value): {
  graph: Graph;
  outputs: Record<string, Value>;
} {
  const graph = new Graph();
  const x = graph.input("x", "float32", [2, 3]);
  const weights = [0, 1, 2].map((i) => graph.input(`w_${i}`, "float32", [3, 3]));
  let y = x;
  for (const weight of weights) y = wrap((rows) => exp([matMul([rows, weight])]), y);
  const loss = reduceSum(y, [0, 1]);
  const gradients = backward(loss, [x, ...weights]);
  const outputs = Object.fromEntries(gradients.map((each, i) => [`d_${i}`, each]));
  return { graph, outputs: { loss, ...outputs } };
}

const feeds = {
  x: tensorOf(Float32Array.of(0.1, -0.2, 0.3, 0.4, 0.5, -0.6), [2, 3]),
  ...Object.fromEntries(
    [0, 1, 2].map((i) => {
      const numbers = Float32Array.from({ length: 9 }, (_, k) => Math.sin(7 * i + k) / 2);
      return [`w_${i}`, tensorOf(numbers, [3, 3])];
    }),
  ),
};

describe("checkpoint", () => {
  it("agrees with central differences around composites, with a weight used inside and outside", async () => {
    const shapes = [{ shape: [4, 3] }, { shape: [3, 3] }, { shape: [3, 3] }];
    const { relativeError, compared } = await checkGradient(
      shapes,
      ([x, w, up]) => {
        const product = (rows: Value, weight: Value): Value =>
          linear(rows, weight, swapLast(weight));
        const build = (rows: Value): Value => swiglu(product(rows, w!), product(rows, up!));
        return product(checkpoint(build, add([x!, checkpoint(build, x!)])), w!);
      },
      "float32",
    );
    expect(compared).toBe(12 + 9 + 9);
    expect(relativeError).toBeLessThan(1e-3);
  });

  it("gives what the same layers give without, to the bit", async () => {
    const results = [];
    for (const wrap of [checkpoint, (build: (x: Value) => Value, x: Value) => build(x)]) {
      const { graph, outputs } = layers(wrap);
      const session = await createSession(graph, outputs, { threads: 1 });
      const made = await session.run(feeds);
      results.push(Object.entries(made).map(([name, tensor]) => [name, [...floats(tensor)]]));
      await session.release();
    }
    expect(results[0]).toEqual(results[1]);
  });

  it("is computed twice by the runtime, each time only when the layer above is done", async () => {
    const { graph, outputs } = layers(checkpoint);
    const nodes = await compiled(graph, outputs);
    expect(nodes.filter((each) => each.startsWith("Exp"))).toHaveLength(3 + 3);
    const again = nodes.flatMap((each, at) => (each.startsWith("Exp") ? [at] : [])).slice(3);
    const gradients = [3, 2, 1].map((i) => nodes.findIndex((each) => each.endsWith(`→ d_${i}`)));
    // Top layer again, its weight's gradient, the next layer again, …
    const order = again.flatMap((at, i) => [at, gradients[i]!]);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(nodes.findIndex((each) => each.endsWith("→ loss"))).toBeLessThan(again[0]!);
  });

  it("computes nothing for weights whose gradient nobody asks for", () => {
    const graph = new Graph();
    const [x, w] = [graph.input("x", "float32", [2, 2]), graph.input("w", "float32", [2, 2])];
    const y = checkpoint((rows) => exp([matMul([rows, w])]), x);
    const loss = reduceSum(y, [0, 1]);
    const before = graph.nodes.length;
    const [dx] = backward(loss, [x]);
    expect(neededInputs(graph, [dx!])).toEqual(["x", "w"]);
    // Forward's product, its copy, and dx: none for dw.
    const products = graph.nodes.slice(before).filter(({ op }) => op.name === "MatMul");
    expect(products.length).toBeGreaterThan(0);
    expect(emittedProducts(graph, dx!)).toBe(3);
  });

  it("refuses a function that reads, built again, what it made the first time", () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2]);
    let kept: Value | undefined;
    const y = checkpoint((from) => mul([from, (kept ??= exp([from]))]), x);
    expect(() => backward(reduceSum(y, [0]), [x])).toThrow(errorWith("GRAPH_CHECKPOINT_LEAK"));
    expect(() => backward(reduceSum(y, [0]), [x])).toThrowErrorMatchingInlineSnapshot(
      `[InternalError: checkpoint: the second call of the block uses "Exp_1" of the first call. The block must recompute everything that depends on its input or on weights.]`,
    );
  });
});

function emittedProducts(graph: Graph, output: Value): number {
  const { graph: made } = fromBinary(ModelProtoSchema, emitModel(graph, { output }));
  return made!.node.filter(({ opType }) => opType === "MatMul").length;
}

describe("after", () => {
  it("gives its value to the bit, whatever is waited for", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [4]);
    const [a, b] = [graph.input("a", "float32", [2, 2]), graph.input("b", "float32", [1])];
    const session = await createSession(graph, { y: dependOn(x, [a, b]) }, { threads: 1 });
    const given = Float32Array.of(0, NaN, 1e-40, -Infinity);
    for (const number of [NaN, Infinity, -1, 0]) {
      const { y } = await session.run({
        x: tensorOf(given, [4]),
        b: tensorOf(Float32Array.of(number), [1]),
        a: tensorOf(Float32Array.of(number, 0, 0, 0), [2, 2]),
      });
      expect(floats(y!)).toEqual(given);
    }
    await session.release();
  });

  it("is the value itself where there is nothing to wait for", () => {
    const x = new Graph().input("x", "float32", [4]);
    expect(dependOn(x, [])).toBe(x);
  });
});

describe("backward", () => {
  it("adds to gradients that are given", async () => {
    const graph = new Graph();
    const [x, sum] = [graph.input("x", "float32", [2]), graph.input("sum", "float32", [2])];
    const [dx] = backward(reduceSum(mul([x, x]), [0]), [x], new Map([[x, sum]]));
    const session = await createSession(graph, { dx: dx! }, { threads: 1 });
    const given = { x: tensorOf(Float32Array.of(3, 4), [2]) };
    const made = await session.run({ ...given, sum: tensorOf(Float32Array.of(100, 200), [2]) });
    expect([...floats(made["dx"]!)]).toEqual([106, 208]);
    await session.release();
    expect(() => backward(reduceSum(x, [0]), [sum], new Map([[sum, x]]))).toThrow(
      errorWith("GRAPH_NO_DERIVATIVE"),
    );
  });

  it("joins the cotangents of what was split, with zeros for a piece that has none", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [1, 5]);
    const [left, , right] = split(x, 1, [1, 2, 2]);
    const loss = add([reduceSum(left!, [1]), reduceSum(mul([right!, right!]), [1])]);
    const [dx] = backward(loss, [x]);
    const session = await createSession(graph, { dx: dx! }, { threads: 1 });
    const made = await session.run({ x: tensorOf(Float32Array.of(1, 2, 3, 4, 5), [1, 5]) });
    expect([...floats(made["dx"]!)]).toEqual([1, 0, 0, 8, 10]);
    await session.release();
  });
});
