import type { DecoderConfig } from "../../models/config.ts";
import { cacheNames } from "../../models/sampling-graph.ts";
import { floats, tensorOf, zeros, type Tensor } from "../../onnx/session.ts";

/** Keys and values of all slots: [slots, KV, capacity, d] a layer, written in place by every run. */
export interface KvCache {
  /** Tensors over all slots, for a run of one new token each. */
  readonly all: CacheTensors;
  /** Tensors over one slot's part of the same memory, for a run of several new tokens. */
  slot(index: number): CacheTensors;
}

export interface CacheTensors {
  /** Inputs by name. */
  feeds: Record<string, Tensor>;
  /** The same tensors as outputs. */
  fetches: Record<string, Tensor>;
}

export function kvCache(config: DecoderConfig, slots: number, capacity: number): KvCache {
  const slotShape = [config.kvHeads, capacity, config.headDim];
  const size = slotShape.reduce((n, axis) => n * axis, 1);
  const all: CacheTensors = { feeds: {}, fetches: {} };
  const names = Array.from({ length: config.layers }, (_, layer) =>
    Object.values(cacheNames(layer)),
  ).flat();
  for (const name of names) {
    const tensor = zeros("float32", [slots, ...slotShape]);
    all.feeds[name] = tensor;
    all.fetches[`${name}.next`] = tensor;
  }
  const views = Array.from({ length: slots }, (_, index): CacheTensors => {
    const view: CacheTensors = { feeds: {}, fetches: {} };
    for (const name of names) {
      const part = floats(all.feeds[name]!).subarray(index * size, (index + 1) * size);
      const tensor = tensorOf(part, [1, ...slotShape]);
      view.feeds[name] = tensor;
      view.fetches[`${name}.next`] = tensor;
    }
    return view;
  });
  return { all, slot: (index) => views[index]! };
}
