import { describe, expect, it } from "vitest";
import { backward } from "../../src/autodiff/backward.ts";
import { frozenLinear, frozenProduct, frozenRows } from "../../src/autodiff/frozen.ts";
import { givenAs, Graph, type Value } from "../../src/autodiff/graph.ts";
import { reduceSum } from "../../src/autodiff/ops/reduce.ts";
import { equalChunks } from "../../src/autodiff/ops/shape.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";

/** The 4 × 2 matrix 1 2 | 3 4 | 5 6 | 7 8 in both types. */
const stored = {
  float16: [0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800],
  bfloat16: [0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0, 0x4100],
};

describe.each([
  ["float16", "float16"],
  ["bfloat16", "uint16"],
] as const)("a frozen matrix of %s", (type, dtype) => {
  async function run(build: (w: Value, x: Value, graph: Graph) => Record<string, Value>) {
    const graph = new Graph();
    const w = graph.input("w", dtype, [4, 2]);
    const outputs = build(w, graph.input("x", "float32", [1, 2]), graph);
    const session = await createSession(graph, outputs, { threads: 1 });
    const results = await session.run({
      w: tensorOf(Uint16Array.from(stored[type]), [4, 2], dtype),
      x: tensorOf(Float32Array.of(10, 1), [1, 2]),
      ids: tensorOf(Int32Array.of(3, 0), [2]),
    });
    const numbers = (name: string): number[] => [...floats(results[name]!)];
    return { session, numbers };
  }

  it("is multiplied with whole, by some of its rows and in pieces, and its derivative is its sum", async () => {
    const { numbers } = await run((w, x) => {
      const y = frozenLinear(x, w);
      const pieces = frozenProduct(x, w, 16);
      const [dx] = backward(reduceSum(y, [0, 1]), [x]);
      return { y, some: frozenLinear(x, w, [1, 3]), pieces, dx: dx! };
    });
    expect(numbers("y")).toEqual([12, 34, 56, 78]);
    expect(numbers("some")).toEqual([34, 56]);
    expect(numbers("pieces")).toEqual([12, 34, 56, 78]);
    expect(numbers("dx")).toEqual([16, 20]);
  });

  it("gives rows as float32", async () => {
    const { numbers } = await run((w, _, graph) => ({
      rows: frozenRows(w, graph.input("ids", "int32", [2])),
    }));
    expect(numbers("rows")).toEqual([7, 8, 1, 2]);
  });

  it("is read through an input of its own at every use", async () => {
    const { session } = await run((w, x) => {
      const y = frozenLinear(x, w);
      return { y, dx: backward(reduceSum(y, [0, 1]), [x])[0]! };
    });
    expect(session.inputNames).toEqual(["x", "w#1", "w#2"]);
    expect(session.inputNames.map(givenAs)).toEqual(["x", "w", "w"]);
  });
});

describe("equalChunks", () => {
  it("are equal where that takes at most twice as many", () => {
    expect(equalChunks(6, 4)).toEqual([
      [0, 3],
      [3, 6],
    ]);
    expect(equalChunks(4, 9)).toEqual([[0, 4]]);
    expect(equalChunks(35, 12).map(([from, to]) => to - from)).toEqual([7, 7, 7, 7, 7]);
    // 37 is prime.
    expect(equalChunks(37, 12).map(([from, to]) => to - from)).toEqual([12, 12, 12, 1]);
  });
});
