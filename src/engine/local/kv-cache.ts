import type { DecoderConfig } from "../../models/config.ts";
import { cacheNames } from "../../models/sampling-graph.ts";
import { floats, tensorOf, zeros, type Tensor } from "../../onnx/session.ts";

/** Keys and values of all slots: [slots, KV, capacity, d] a layer, written in place by every run. */
export interface KvCache {
  /** Positions that each slot holds. */
  readonly capacity: number;
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
  return { capacity, all, slot: (index) => views[index]! };
}

/** A larger cache with the same keys and values. */
export function growKvCache(config: DecoderConfig, cache: KvCache, capacity: number): KvCache {
  const [first] = Object.values(cache.all.feeds);
  const slots = first!.dims[0]!;
  const grown = kvCache(config, slots, capacity);
  const before = cache.capacity * config.headDim;
  const after = capacity * config.headDim;
  for (const [name, tensor] of Object.entries(cache.all.feeds)) {
    const source = floats(tensor);
    const target = floats(grown.all.feeds[name]!);
    for (let head = 0; head < slots * config.kvHeads; head++) {
      target.set(source.subarray(head * before, (head + 1) * before), head * after);
    }
  }
  return grown;
}
