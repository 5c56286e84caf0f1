import { definedValues } from "../../base/defined-values.ts";
import { backward } from "../../autodiff/backward.ts";
import { Graph } from "../../autodiff/graph.ts";
import { type LossSpec, PLACES } from "../../losses/loss.ts";
import { openDevice } from "../../onnx/device.ts";
import { compileFree, type FreeSession } from "../../onnx/free-lengths.ts";
import { floats, type Tensor, tensorOf } from "../../onnx/session.ts";
import { type ForwardBackwardResult, isScored, type TrainingRow } from "../engine.ts";
import { compiled, mostGraphs } from "../local/compiled.ts";
import { counted } from "../local/packed-run.ts";
import { buildLoss, FIELD, fieldInputs, lossFields, METRIC } from "../local/training-graph.ts";

/** A loss of given log-probabilities, computed here: its value and metrics, and its derivative by each log-probability. */
export interface LossGradients {
  /** @param logprobs per row, of the scored tokens. @returns per row and of the same length; 0 where a token is not scored. */
  of(
    rows: readonly TrainingRow[],
    logprobs: readonly Float32Array[],
    loss: LossSpec,
  ): Promise<Omit<ForwardBackwardResult, "logprobs"> & { gradients: Float32Array[] }>;
  close(): Promise<void>;
}

const LOGPROBS = "logprobs";
const GRADIENTS = "gradients";

/** Runs losses on the processor, over log-probabilities that a server computed. */
export function lossGradients(): LossGradients {
  const device = openDevice("cpu", 1);
  const once = compiled<FreeSession<"count">>(mostGraphs.training);
  const session = (loss: LossSpec): Promise<FreeSession<"count">> =>
    once(JSON.stringify(loss), () =>
      compileFree(device, ["count"], ({ count }) => {
        const graph = new Graph();
        const logprobs = graph.input(LOGPROBS, "float32", [count, 1]);
        const outputs = { logprobs, entropy: null, values: null };
        const built = buildLoss(loss, outputs, fieldInputs(graph, loss, count));
        const [gradients] = backward(built.loss, [logprobs]);
        const metrics = Object.entries(built.metrics).map(
          ([name, value]) => [METRIC + name, value] as const,
        );
        const all = { loss: built.loss, [GRADIENTS]: gradients, ...Object.fromEntries(metrics) };
        return { graph, outputs: definedValues(all) };
      }),
    );
  return {
    async of(rows, logprobs, loss) {
      // Row and target of each scored token, in pairs: an object for each would be millions.
      const places: number[] = [];
      rows.forEach((row, r) => {
        for (let token = 0; token < row.targets.length; token++)
          if (isScored(row, token)) places.push(r, token);
      });
      // A graph has at least one token; one beyond the rows' own has weight 0.
      const count = Math.max(1, places.length / 2);
      const each = (use: (r: number, token: number, k: number) => void): void => {
        for (let k = 0; 2 * k < places.length; k++)
          use(places[2 * k] ?? 0, places[2 * k + 1] ?? 0, k);
      };
      const ready = await session(loss);
      const column = (value: (row: number, token: number) => number): Tensor => {
        const data = new Float32Array(count);
        each((r, token, k) => (data[k] = value(r, token)));
        return tensorOf(data, [count, 1]);
      };
      const feeds: Record<string, Tensor> = {
        [LOGPROBS]: column((r, token) => logprobs[r]?.[token] ?? NaN),
        [PLACES]: counted(count, [count, 1]),
      };
      for (const name of lossFields(loss).filter((each) => ready.inputNames.includes(FIELD + each)))
        feeds[FIELD + name] = column((r, token) => rows[r]?.fields[name]?.[token] ?? NaN);
      const outputs = await ready.run({ count }, feeds);
      const read = (name: string): Float32Array => {
        const found = outputs[name];
        return found === undefined ? new Float32Array(count) : floats(found);
      };
      const gradients = rows.map((row) => new Float32Array(row.targets.length));
      const all = read(GRADIENTS);
      each((r, token, k) => {
        const row = gradients[r];
        if (row !== undefined) row[token] = all[k] ?? NaN;
      });
      const metrics = Object.keys(outputs).filter((name) => name.startsWith(METRIC));
      return {
        loss: read("loss")[0] ?? NaN,
        gradients,
        metrics: Object.fromEntries(
          metrics.map((name) => [name.slice(METRIC.length), read(name)[0] ?? NaN]),
        ),
      };
    },
    close: () => device.close(),
  };
}
