import { describe, expect, it } from "vitest";
import { backward } from "../../src/autodiff/backward.ts";
import { Graph, scalarLike } from "../../src/autodiff/graph.ts";
import { add, less, mul, stopGradient } from "../../src/autodiff/ops/elementwise.ts";
import { gather } from "../../src/autodiff/ops/indexing.ts";
import { matMul } from "../../src/autodiff/ops/linear.ts";
import { reduceSum } from "../../src/autodiff/ops/reduce.ts";
import { expandOp, reshape } from "../../src/autodiff/ops/shape.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";
import { errorWith } from "../helpers/error-with.ts";

describe("a graph", () => {
  it("keeps equal constants once and refuses one name for two inputs", () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2]);
    expect(scalarLike(x, 2)).toBe(scalarLike(x, 2));
    expect(scalarLike(x, 2)).not.toBe(scalarLike(x, 3));
    expect(() => graph.input("x", "float32", [2])).toThrow(errorWith("GRAPH_NAME_TWICE"));
    expect(() => graph.input("x", "float32", [2])).toThrowErrorMatchingInlineSnapshot(
      `[InternalError: graph input "x" already exists.]`,
    );
  });

  it("refuses values of another graph", () => {
    const x = new Graph().input("x", "float32", [2]);
    const y = new Graph().input("y", "float32", [2]);
    expect(() => add([x, y])).toThrow(errorWith("GRAPH_MIXED"));
    expect(() => add([x, y])).toThrowErrorMatchingInlineSnapshot(
      `[InternalError: Add: input "y" belongs to another graph.]`,
    );
    expect(() => add([])).toThrow(errorWith("GRAPH_MIXED", "Add: needs an input and an output."));
  });

  it("says which shapes do not fit, and what to do", () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2, 17, 8]);
    const w = graph.input("w", "float32", [10, 8]);
    expect(() => matMul([x, w])).toThrow(errorWith("SHAPE_MATMUL"));
    expect(() => matMul([x, w])).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: MatMul: left "x" [2, 17, 8] and right "w" [10, 8] disagree on the inner axis (8 ≠ 10). If a weight is stored [out, in], transpose it first.]`,
    );
    expect(() => add([x, w])).toThrow(errorWith("SHAPE_BROADCAST"));
    expect(() => add([x, w])).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: Add: [2, 17, 8] and [10, 8] do not broadcast (axis 1: 17 ≠ 10). Reshape one of them.]`,
    );
    expect(() => reshape(x, [5, 5])).toThrow(errorWith("SHAPE_RESHAPE"));
    expect(() => reshape(x, [5, 5])).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: Reshape "x": [2, 17, 8] has 272 elements, but [5, 5] has 25. Pass a shape of equal size.]`,
    );
    const shape = graph.input("shape", "int64", [1]);
    expect(() => expandOp([x, shape])).toThrow(errorWith("GRAPH_NOT_CONSTANT"));
    expect(() => expandOp([x, shape])).toThrowErrorMatchingInlineSnapshot(
      `[InternalError: "shape" must be a constant of its graph.]`,
    );
  });
});

describe("backward", () => {
  it("adds where paths meet, sums what was broadcast and stops where told", async () => {
    // y = Σ (x·b + x·stop(x)) with b [1] broadcast: dy/dx = b + x, dy/db = Σ x.
    const graph = new Graph();
    const x = graph.input("x", "float32", [3]);
    const b = graph.input("b", "float32", [1]);
    const y = reduceSum(add([mul([x, b]), mul([x, stopGradient([x])])]), [0]);
    const [dx, db] = backward(y, [x, b]);
    const session = await createSession(graph, { dx: dx!, db: db! }, { threads: 1 });
    const results = await session.run({
      x: tensorOf(Float32Array.of(1, 2, 3), [3]),
      b: tensorOf(Float32Array.of(10), [1]),
    });
    expect([...floats(results["dx"]!)]).toEqual([11, 12, 13]);
    expect([...floats(results["db"]!)]).toEqual([6]);
    await session.release();
  });

  it("adds the gradients of a row that is gathered twice", async () => {
    const graph = new Graph();
    const table = graph.input("table", "float32", [3, 2]);
    const ids = graph.input("ids", "int32", [3]);
    const [dt] = backward(reduceSum(gather([table, ids]), [0, 1]), [table]);
    const session = await createSession(graph, { dt: dt! }, { threads: 1 });
    const results = await session.run({ ids: tensorOf(Int32Array.of(2, 0, 2), [3]) });
    expect([...floats(results["dt"]!)]).toEqual([1, 1, 0, 0, 2, 2]);
    await session.release();
  });

  it("names a value on which the loss does not depend", () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [1]);
    const other = graph.input("other", "float32", [1]);
    expect(() => backward(mul([x, x]), [x, other])).toThrow(errorWith("GRAPH_NO_DERIVATIVE"));
    expect(() => backward(mul([x, x]), [x, other])).toThrowErrorMatchingInlineSnapshot(
      `[InternalError: "other": the loss does not depend on it, so it has no gradient.]`,
    );
    expect(less([x, other]).dtype).toBe("bool");
  });
});
