import { Graph } from "../../dist/autodiff/graph.js";
import { matMul } from "../../dist/autodiff/ops/linear.js";
import { createSession, zeros } from "../../dist/onnx/session.js";
import { timed } from "./timing.mjs";

const SIZE = 1024;

/** The yardstick: a float32 product of two 1024 × 1024 matrices, one session of two threads. GFLOP/s. */
export async function gemm(times) {
  const graph = new Graph();
  const shape = [SIZE, SIZE];
  const product = matMul([graph.input("a", "float32", shape), graph.input("b", "float32", shape)]);
  const session = await createSession(graph, { product }, { threads: 2 });
  const feeds = { a: zeros("float32", shape), b: zeros("float32", shape) };
  for (const tensor of Object.values(feeds)) {
    for (let i = 0; i < tensor.data.length; i++) tensor.data[i] = Math.sin(i);
  }
  const fetches = { product: zeros("float32", shape) };
  const { best } = await timed(times, () => session.run(feeds, fetches));
  await session.release();
  return (2 * SIZE ** 3) / best / 1e9;
}
