import { describe, expect, it } from "vitest";
import { Graph, type Value } from "../../src/autodiff/graph.ts";
import { backward } from "../../src/autodiff/backward.ts";
import { mul } from "../../src/autodiff/ops/elementwise.ts";
import { reduceMean, reduceSum } from "../../src/autodiff/ops/reduce.ts";
import { concat, reshape, slice, transpose } from "../../src/autodiff/ops/shape.ts";
import { openDevice } from "../../src/onnx/device.ts";
import { compileFree, type Lengths } from "../../src/onnx/free-lengths.ts";
import { floats, tensorOf } from "../../src/onnx/session.ts";
import { errorWith } from "../helpers/error-with.ts";

const device = openDevice("cpu", 1);

/** The second half of each row of x [rows, 2 · half] before its first half, the sum of squares, and its gradient. */
function turned({ rows, half }: Lengths<"rows" | "half">) {
  const graph = new Graph();
  const x = graph.input("x", "float32", [rows * 2 * half]);
  const table = transpose(reshape(x, [rows, 2, half]), [1, 0, 2]);
  const halves = [slice(table, 0, 1, 2), slice(table, 0, 0, 1)];
  const swapped = reshape(transpose(concat(halves, { axis: 0 }), [1, 0, 2]), [rows, 2 * half]);
  const sum = reduceSum(mul([swapped, swapped]), [0, 1]);
  const [dx] = backward(sum, [x]);
  return { graph, outputs: { swapped, sum, dx: dx! } };
}

const withConstant = (constant: (graph: Graph, n: number) => Value) => {
  return ({ n }: Lengths<"n">) => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [n]);
    return { graph, outputs: { y: mul([x, constant(graph, n)]) } };
  };
};

describe("a graph with free lengths", () => {
  it("is compiled once and runs at any of them", async () => {
    const session = await compileFree(device, ["rows", "half"], turned);
    const run = async (rows: number, half: number) => {
      const numbers = Float32Array.from({ length: rows * 2 * half }, (_, i) => i + 1);
      const feeds = { x: tensorOf(numbers, [numbers.length]) };
      const { swapped, sum, dx } = await session.run({ rows, half }, feeds);
      return { swapped: swapped!, sum: floats(sum!)[0], dx: [...floats(dx!)] };
    };
    const first = await run(1, 2);
    expect(first.swapped.dims).toEqual([1, 4]);
    expect([...floats(first.swapped)]).toEqual([3, 4, 1, 2]);
    expect(first.dx).toEqual([2, 4, 6, 8]);
    const second = await run(2, 1);
    expect([...floats(second.swapped)]).toEqual([2, 1, 4, 3]);
    expect(second.sum).toBe(30);
    expect((await run(3, 5)).dx).toEqual(Array.from({ length: 30 }, (_, i) => 2 * (i + 1)));
    await session.release();
  });

  it.each([
    [
      "as many numbers",
      (graph: Graph, n: number) => graph.constant("float32", [n], [...Array(n).keys()]),
    ],
    [
      "a number computed from it",
      (graph: Graph, n: number) => graph.constant("float32", [], [1 / n]),
    ],
  ])("has no constant that depends on one: %s", async (_, constant) => {
    const compiling = compileFree(device, ["n"], withConstant(constant));
    await expect(compiling).rejects.toThrow(
      errorWith("GRAPH_NOT_FREE", /constant "const_1" \(float32/),
    );
  });

  it("has no mean over one, which divides by it", async () => {
    const build = ({ n }: Lengths<"n">) => {
      const graph = new Graph();
      const x = graph.input("x", "float32", [n]);
      return { graph, outputs: { dx: backward(reduceMean(x, [0]), [x])[0]! } };
    };
    await expect(compileFree(device, ["n"], build)).rejects.toThrow(errorWith("GRAPH_NOT_FREE"));
  });
});
