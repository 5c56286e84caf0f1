import { Graph, type Value } from "../../autodiff/graph.ts";
import { swapLast } from "../../autodiff/ops/linear.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { TRANSPOSED } from "../../models/decoder.ts";
import { loraSpecs, type Adapter, type LoraConfig } from "../../models/lora/lora.ts";
import { parameterSpecs } from "../../models/parameters.ts";
import { createSession, zeros, type Session, type Tensor } from "../../onnx/session.ts";
import { flatTensors } from "./flat-tensors.ts";

/** A model's parameters on the device, with the transposed copies that graphs read beside them. */
export interface ModelWeights {
  /** Adapters that graphs over this model compute; null for none. */
  readonly lora: LoraConfig | null;
  /** What is trained, in the order of `trainedSpecs`: all parameters, or those of the adapters. */
  readonly flat: Float32Array;
  /** Feeds for any graph over this model. */
  readonly feeds: Readonly<Record<string, Tensor>>;
  /** Makes the transposed copies again, after `flat` changed. */
  refresh(): Promise<void>;
  /** An independent copy: a frozen reference. With adapters, of those alone; the base is shared. */
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
    lora: null,
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

/**
 * A model with adapters over another's parameters, which stay where they are and as they are.
 * @param adapter initial values; copied.
 */
export function adaptedWeights(
  config: DecoderConfig,
  base: ModelWeights,
  { lora, weights: initial }: Adapter,
): ModelWeights {
  const { flat, tensors } = flatTensors(loraSpecs(config, lora));
  flat.set(initial);
  return {
    ...{ lora, flat, feeds: { ...base.feeds, ...Object.fromEntries(tensors) } },
    // Adapters are read as stored.
    refresh: () => Promise.resolve(),
    copy: () => Promise.resolve(adaptedWeights(config, base, { lora, weights: flat })),
  };
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
