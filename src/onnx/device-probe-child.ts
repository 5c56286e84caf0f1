/** A process that tests one device, given as argument, and writes a DeviceProbe to stdout. */
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Graph } from "../autodiff/graph.ts";
import { matMul } from "../autodiff/ops/linear.ts";
import { reduceSum } from "../autodiff/ops/reduce.ts";
import { errorMessage } from "../base/errors.ts";
import type { DeviceName } from "./device-names.ts";
import type { DeviceProbe } from "./device-probe.ts";
import { createSession, tensorOf } from "./session.ts";

/** Chained matrix products per run, so that transfers take little of the measured time. */
const CHAIN = 4;
const RUNS = 4;

async function measure(device: DeviceName, size: number): Promise<{ gflops: number; ms: number }> {
  const graph = new Graph();
  const shape = [size, size];
  const b = graph.input("b", "float32", shape);
  let product = graph.input("a", "float32", shape);
  for (let i = 0; i < CHAIN; i++) product = matMul([product, b]);
  const threads = availableParallelism();
  const outputs = { sum: reduceSum(product, [0, 1]) };
  const session = await createSession(graph, outputs, { device, threads });
  const numbers = tensorOf(new Float32Array(size * size).fill(1e-3), shape);
  let ms = Infinity;
  for (let run = 0; run < RUNS; run++) {
    const begun = performance.now();
    await session.run({ a: numbers, b: numbers });
    // The first run compiles kernels.
    if (run > 0) ms = Math.min(ms, performance.now() - begun);
  }
  await session.release();
  return { gflops: (CHAIN * 2 * size ** 3) / ms / 1e6, ms };
}

async function probe(device: DeviceName): Promise<DeviceProbe> {
  try {
    let found = await measure(device, 256);
    // A slow device would take minutes for the larger size.
    for (const size of [1024, 4096]) {
      if (found.ms > 20) break;
      found = await measure(device, size);
    }
    return { works: true, gflops: found.gflops };
  } catch (error) {
    return { works: false, why: reason(error) };
  }
}

/** The first line of the error, without the prefix and the advice. */
function reason(error: unknown): string {
  const [line = ""] = errorMessage(error).split("\n");
  return line
    .replace(/^device "\w+": /, "")
    .replace(/\. Choose another;.*/, "")
    .slice(0, 300);
}

writeFileSync(1, JSON.stringify(await probe(process.argv[2] as DeviceName)));
// An explicit exit, because a graphics driver's threads may keep the process alive.
process.exit(0);
