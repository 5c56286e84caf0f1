import { withAllowance } from "../../src/engine/local/forecast.ts";
import {
  trainingGraph,
  type RunLengths,
  type TrainingGraphOptions,
} from "../../src/engine/local/training-graph.ts";
import type { DecoderConfig } from "../../src/models/config.ts";
import { runMemory } from "../../src/onnx/run-memory.ts";
import { runNode } from "./run-node.ts";

/** A training graph whose memory is asked for. */
export interface StepShape extends Omit<RunLengths, "tokens">, TrainingGraphOptions {
  config: DecoderConfig;
}

/** What is forecast for it. */
export function forecastPeak(step: StepShape): number {
  const { config, batch, length, scored, ...options } = step;
  const loss = { name: "cross-entropy", options: {} };
  const shape = { tokens: batch * length, batch, length, scored };
  const { graph, outputs } = trainingGraph(config, shape, loss, options);
  const { peak } = runMemory(graph, outputs, (name) => name.endsWith(".next"));
  return withAllowance(peak, options.recompute ?? false);
}

/** Bytes that a run of a training graph adds to its process at the peak, in one of its own; Linux, needs the build. */
export async function stepPeak(step: StepShape): Promise<number> {
  const { config, batch, length, scored, ...options } = step;
  const printed = await runNode(`
    import { readFileSync, writeFileSync } from "node:fs";
    import { trainingGraph } from "./dist/engine/local/training-graph.js";
    import { createSession, zeros } from "./dist/onnx/session.js";
    const shape = { tokens: ${batch * length}, batch: ${batch}, length: ${length}, scored: ${scored} };
    const loss = { name: "cross-entropy", options: {} };
    const { graph, outputs } = trainingGraph(${JSON.stringify(config)}, shape, loss, ${JSON.stringify(options)});
    const session = await createSession(graph, outputs, { threads: 1 });
    const tensors = {};
    for (const { name, dtype, shape } of graph.inputs) tensors[name] = zeros(dtype, shape);
    for (const { data } of Object.values(tensors)) data.fill(0);
    const fetches = {};
    for (const name of Object.keys(outputs)) {
      if (name.endsWith(".next")) fetches[name] = tensors[name.slice(0, -".next".length)];
    }
    const kilobytes = (key) =>
      Number(new RegExp(key + ":\\\\s+(\\\\d+)").exec(readFileSync("/proc/self/status", "utf8"))[1]);
    const before = kilobytes("VmRSS");
    // Sets the peak back to what stands.
    writeFileSync("/proc/self/clear_refs", "5");
    await session.run(tensors, fetches);
    console.log(1024 * (kilobytes("VmHWM") - before));
  `);
  return Number(printed);
}
