import { Graph, type Value } from "../../autodiff/graph.ts";
import { swapLast } from "../../autodiff/ops/linear.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { TRANSPOSED, type Layout } from "../../models/decoder.ts";
import { loraSpecs, type Adapter, type LoraConfig } from "../../models/lora/lora.ts";
import { parameterCount, parameterSpecs } from "../../models/parameters.ts";
import type { Device } from "../../onnx/device.ts";
import type { Session, Tensor } from "../../onnx/session.ts";
import { parameterTensors, type ParameterTensors } from "./parameter-tensors.ts";

/** A model's parameters on the device, with transposed copies where the layout has them: graphs over it must use the same layout. */
export interface ModelWeights extends Readonly<Layout> {
  readonly lora: LoraConfig | null;
  readonly trained: ParameterTensors;
  readonly feeds: Readonly<Record<string, Tensor>>;
  /** Updates the transposed copies after `trained` changed. */
  refresh(): Promise<void>;
  /** An independent copy: a frozen reference. Copies only the adapters, if any; the base is shared. */
  copy(): Promise<ModelWeights>;
}

const SMALL = 64_000_000;

/** Whether a CPU keeps a model's weights in every form that makes it fast: both layouts of matrices, and a replica per core. */
export function isSmall(config: DecoderConfig): boolean {
  return parameterCount(config) <= SMALL;
}

/** Whether a model's matrices are also stored transposed: where products need it and memory allows it. */
export function keepsTransposed(config: DecoderConfig, device: Pick<Device, "resident">): boolean {
  return !device.resident && isSmall(config);
}

/** Whether sampling holds packed copies of the matrices, twice as fast for few rows; small models share transposed copies with training. */
export function packsForSampling(
  { transposed, frozen }: Layout,
  device: Pick<Device, "resident">,
): boolean {
  return !device.resident && !transposed && frozen === null;
}

/** @param initial values in the order of `parameterSpecs`, copied, or their writer. @param flat the host array of parameters. */
export async function modelWeights(
  config: DecoderConfig,
  initial: Float32Array | ((into: Float32Array) => Promise<void>),
  device: Device,
  flat?: Float32Array,
): Promise<ModelWeights> {
  const transposing = keepsTransposed(config, device)
    ? await transposingSession(config, device)
    : null;
  const made = await makeWeights(config, device, transposing, flat);
  if (initial instanceof Float32Array) await made.trained.write(initial);
  else if (made.trained.flat !== null) await initial(made.trained.flat);
  else {
    const numbers = new Float32Array(parameterCount(config));
    await initial(numbers);
    await made.trained.write(numbers);
  }
  await made.refresh();
  return made;
}

async function makeWeights(
  config: DecoderConfig,
  device: Device,
  transposing: Session | null,
  flat?: Float32Array,
): Promise<ModelWeights> {
  const trained = await parameterTensors(device, parameterSpecs(config), flat);
  const copies: Record<string, Tensor> = {};
  for (const { name, shape } of transposing === null ? [] : parameterSpecs(config)) {
    if (shape.length === 2) copies[name + TRANSPOSED] = await device.zeros(shape.toReversed());
  }
  const feeds = { ...Object.fromEntries(trained.tensors), ...copies };
  return {
    lora: null,
    transposed: transposing !== null,
    frozen: null,
    trained,
    feeds,
    refresh: async () => {
      await transposing?.run(feeds, copies);
    },
    copy: async () => {
      const other = await makeWeights(config, device, transposing);
      await other.trained.copyFrom(trained);
      await other.refresh();
      return other;
    },
  };
}

/** A model with adapters (`initial` values, copied) over the frozen, shared parameters of another. */
export async function adaptedWeights(
  config: DecoderConfig,
  base: ModelWeights,
  { lora, weights: initial }: Adapter,
  device: Device,
  flat?: Float32Array,
): Promise<ModelWeights> {
  const made = await makeAdapted(config, base, lora, device, flat);
  await made.trained.write(initial);
  return made;
}

async function makeAdapted(
  config: DecoderConfig,
  base: ModelWeights,
  lora: LoraConfig,
  device: Device,
  flat?: Float32Array,
): Promise<ModelWeights> {
  const trained = await parameterTensors(device, loraSpecs(config, lora), flat);
  return {
    lora,
    transposed: base.transposed,
    frozen: base.frozen,
    trained,
    feeds: { ...base.feeds, ...Object.fromEntries(trained.tensors) },
    // Adapters need no transposed copies.
    refresh: () => Promise.resolve(),
    copy: async () => {
      const other = await makeAdapted(config, base, lora, device);
      await other.trained.copyFrom(trained);
      return other;
    },
  };
}

function transposingSession(config: DecoderConfig, device: Device): Promise<Session> {
  const graph = new Graph();
  const outputs: Record<string, Value> = {};
  for (const { name, shape } of parameterSpecs(config)) {
    if (shape.length === 2)
      outputs[name + TRANSPOSED] = swapLast(graph.input(name, "float32", shape));
  }
  return device.compile(graph, outputs);
}
