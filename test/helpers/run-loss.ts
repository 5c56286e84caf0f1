import { backward } from "../../src/autodiff/backward.ts";
import { Graph, type Value } from "../../src/autodiff/graph.ts";
import { PLACES } from "../../src/losses/loss.ts";
import { losses } from "../../src/losses/index.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";

export interface LossRun {
  loss: number;
  /** d loss / d log-probability, or d value for a loss that reads values, by token. */
  gradient: number[];
  metrics: Record<string, number>;
}

/** A loss and its gradient at given log-probabilities, or values, of a few tokens; every token has the entropy 1.5 unless told. */
export async function runLoss(
  name: string,
  options: Record<string, unknown>,
  predicted: readonly number[],
  fields: Readonly<Record<string, readonly number[]>>,
): Promise<LossRun> {
  const graph = new Graph();
  const shape = [predicted.length, 1];
  const column = (input: string): Value => graph.input(input, "float32", shape);
  const scored = column("scored");
  const built = losses
    .get(name, "test")
    .build(
      {
        logprobs: scored,
        entropy: () => column("entropy"),
        values: () => scored,
        fields: Object.fromEntries(Object.keys(fields).map((field) => [field, column(field)])),
      },
      options,
    );
  const [gradient] = backward(built.loss, [scored]);
  const outputs = { ...built.metrics, loss: built.loss, gradient: gradient! };
  const session = await createSession(graph, outputs, { threads: 1 });
  const feeds = Object.fromEntries(
    Object.entries({
      entropy: predicted.map(() => 1.5),
      [PLACES]: predicted.map((_, place) => place),
      ...fields,
      scored: predicted,
    }).map(([input, numbers]) => [input, tensorOf(Float32Array.from(numbers), shape)]),
  );
  const results = await session.run(feeds);
  await session.release();
  const metrics = Object.keys(built.metrics).map((key) => [key, floats(results[key]!)[0]!]);
  return {
    loss: floats(results["loss"]!)[0]!,
    gradient: [...floats(results["gradient"]!)],
    metrics: Object.fromEntries(metrics) as Record<string, number>,
  };
}
