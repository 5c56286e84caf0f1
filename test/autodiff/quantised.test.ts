import { expect, it } from "vitest";
import { Graph } from "../../src/autodiff/graph.ts";
import { int8Product, quantiseRows, type ByteType } from "../../src/autodiff/ops/quantised.ts";
import { exactByteType } from "../../src/engine/local/sampling-constants.ts";
import { openDevice } from "../../src/onnx/device.ts";
import { floats, tensorOf } from "../../src/onnx/session.ts";

const device = openDevice("cpu", 1);

// The largest of each row is 127 steps; halves are rounded to even, and a row of zeros stays one.
const rows = Float32Array.of(127, -63.5, 2.5, 0, 0, 0);

it.each([
  ["int8", [127, -64, 2, 0, 0, 0]],
  ["uint8", [255, 64, 130, 128, 128, 128]],
] as const)("quantises each row by itself, to %s", async (type, bytes) => {
  const graph = new Graph();
  const quantised = quantiseRows(graph.input("x", "float32", [2, 3]), type);
  const session = await device.compile(graph, { ...quantised });
  const found = await session.run({ x: tensorOf(rows, [2, 3]) });
  expect([...(found["bytes"]!.data as Int8Array)]).toEqual(bytes);
  expect(floats(found["scale"]!)[0]).toBeCloseTo(1, 6);
});

it.each<ByteType>(["int8", "uint8"])("multiplies by %s, column by column scaled", async (type) => {
  const graph = new Graph();
  const x = quantiseRows(graph.input("x", "float32", [2, 3]));
  const zero = type === "int8" ? 0 : 128;
  // [3, 2], small enough that no kernel overflows.
  const numbers = [1, -2, 3, 4, -5, 6].map((each) => each + zero);
  const bytes = graph.input("bytes", type, [3, 2]);
  const product = int8Product(x, bytes, graph.input("scale", "float32", [2]));
  const data = type === "int8" ? Int8Array.from(numbers) : Uint8Array.from(numbers);
  const session = await device.compile(graph, { product });
  const found = await session.run({
    x: tensorOf(rows, [2, 3]),
    bytes: tensorOf(data, [3, 2]),
    scale: tensorOf(Float32Array.of(1, 0.5), [2]),
  });
  // 127·1 − 64·3 − 2·5 and (−127·2 − 64·4 + 2·6) / 2.
  [-75, -249, 0, 0].forEach((each, i) => {
    expect(floats(found["product"]!)[i]).toBeCloseTo(each, 3);
  });
});

it("is exact for the largest bytes, in the type that a trial finds", async () => {
  const type = await exactByteType(device);
  const graph = new Graph();
  const [high, low, zero] = type === "int8" ? [127, -127, 0] : [255, 1, 128];
  const size = 64;
  const bytes = graph.input("bytes", type, [size, 2]);
  const x = quantiseRows(graph.input("x", "float32", [1, size]));
  const product = int8Product(x, bytes, graph.input("scale", "float32", [2]));
  const numbers = Array.from({ length: 2 * size }, (_, i) => (i % 2 === 0 ? high : low));
  const constants = new Map([
    ["bytes", type === "int8" ? Int8Array.from(numbers) : Uint8Array.from(numbers)],
  ]);
  const session = await device.compile(graph, { product }, { constants });
  const found = await session.run({
    x: tensorOf(new Float32Array(size).fill(127), [1, size]),
    scale: tensorOf(Float32Array.of(1, 1), [2]),
  });
  const exact = size * 127 * (high - zero);
  expect([...floats(found["product"]!)]).toEqual([exact, -exact]);
});
