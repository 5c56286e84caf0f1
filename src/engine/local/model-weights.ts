import { Graph, type Value } from "../../autodiff/graph.ts";
import { swapLast } from "../../autodiff/ops/linear.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { TRANSPOSED } from "../../models/decoder.ts";
import { parameterSpecs } from "../../models/parameters.ts";
import { createSession, zeros, type Session, type Tensor } from "../../onnx/session.ts";
import { flatTensors } from "./flat-tensors.ts";

/** A model's parameters on the device, with the transposed copies that graphs read beside them. */
export interface ModelWeights {
  /** All parameters, in the order of `parameterSpecs`. */
  readonly flat: Float32Array;
  /** Feeds for any graph over this model. */
  readonly feeds: Readonly<Record<string, Tensor>>;
  /** Makes the transposed copies again, after `flat` changed. */
  refresh(): Promise<void>;
  /** An independent copy: a frozen reference. */
  copy(): Promise<ModelWeights>;
}

/** @param flat initial values; copied. */
export async function modelWeights(
  config: DecoderConfig,
  flat: Float32Array,
  threads: number,
): Promise<ModelWeights> {
  const session = await transposingSession(config, threads);
  return makeWeights(config, flat, session);
}

async function makeWeights(
  config: DecoderConfig,
  initial: Float32Array,
  session: Session,
): Promise<ModelWeights> {
  const { flat, tensors } = flatTensors(parameterSpecs(config));
  flat.set(initial);
  const feeds: Record<string, Tensor> = Object.fromEntries(tensors);
  const copies: Record<string, Tensor> = {};
  for (const { name, shape } of parameterSpecs(config)) {
    if (shape.length !== 2) continue;
    const copy = zeros("float32", shape.toReversed());
    copies[name + TRANSPOSED] = copy;
    feeds[name + TRANSPOSED] = copy;
  }
  const weights: ModelWeights = {
    flat,
    feeds,
    refresh: async () => {
      await session.run(feeds, copies);
    },
    copy: () => makeWeights(config, flat, session),
  };
  await weights.refresh();
  return weights;
}

function transposingSession(config: DecoderConfig, threads: number): Promise<Session> {
  const graph = new Graph();
  const outputs: Record<string, Value> = {};
  for (const { name, shape } of parameterSpecs(config)) {
    if (shape.length === 2)
      outputs[name + TRANSPOSED] = swapLast(graph.input(name, "float32", shape));
  }
  return createSession(graph, outputs, { threads });
}
