import type { DecoderConfig } from "../../models/config.ts";
import { positionNumbers } from "../../models/position-tables.ts";
import { cacheNames } from "../../models/sampling-graph.ts";
import { floats, tensorOf, type Tensor } from "../../onnx/session.ts";

/** Keys and values of all slots, by layer: [slots, KV, d, capacity] and [slots, KV, capacity, d]. Graphs read it; `write` fills it. */
export interface KvCache {
  /** Positions per slot. */
  readonly capacity: number;
  /** Tensors over the first slots, by input name, with the tables of positions. */
  first(count: number): Readonly<Record<string, Tensor>>;
  /** The same over one slot's part of the memory. */
  slot(index: number): Readonly<Record<string, Tensor>>;
  /**
   * Stores the keys and values that a run computed for new tokens.
   * @param results the run's outputs, with several rows of new tokens.
   * @param place.row row of the results, `place.slot` target slot, `place.at` position of the first token, `place.count` number of tokens.
   */
  write(results: Readonly<Record<string, Tensor>>, place: CachePlace): void;
  /** Copies the first `count` positions of one slot to another. */
  copy(from: number, to: number, count: number): void;
}

export interface CachePlace {
  row: number;
  slot: number;
  at: number;
  count: number;
}

export interface KvCacheShape {
  slots: number;
  /** Positions per slot. */
  capacity: number;
  /** Limit on the new tokens of a run. */
  chunk: number;
}

export function kvCache(config: DecoderConfig, shape: KvCacheShape): KvCache {
  const { kvHeads, headDim } = config;
  const { slots, capacity } = shape;
  const size = kvHeads * capacity * headDim;
  const layers = Array.from({ length: config.layers }, (_, layer) => {
    const { key, value } = cacheNames(layer);
    return {
      ...{ key, value },
      keys: new Float32Array(slots * size),
      values: new Float32Array(slots * size),
    };
  });
  const tables = Object.entries(positionNumbers(config, shape)).map(
    ([name, { data, shape }]) => [name, tensorOf(data, shape)] as const,
  );
  const view = (from: number, count: number): Record<string, Tensor> => {
    const tensors: Record<string, Tensor> = Object.fromEntries(tables);
    for (const { key, value, keys, values } of layers) {
      const [begin, end] = [from * size, (from + count) * size];
      tensors[key] = tensorOf(keys.subarray(begin, end), [count, kvHeads, headDim, capacity]);
      tensors[value] = tensorOf(values.subarray(begin, end), [count, kvHeads, capacity, headDim]);
    }
    return tensors;
  };
  const views = Array.from({ length: slots }, (_, index) => view(index, 1));
  return {
    capacity,
    first: (count) => view(0, count),
    slot: (index) => views[index]!,
    write(results, { row, slot, at, count }) {
      for (const { key, value, keys, values } of layers) {
        const newKeys = floats(results[`${key}.new`]!);
        const newValues = floats(results[`${value}.new`]!);
        const chunk = results[`${key}.new`]!.dims[3]!;
        for (let head = 0; head < kvHeads; head++) {
          const from = (row * kvHeads + head) * chunk * headDim;
          const to = (slot * kvHeads + head) * capacity * headDim;
          values.set(newValues.subarray(from, from + count * headDim), to + at * headDim);
          for (let i = 0; i < headDim; i++) {
            const source = from + i * chunk;
            const target = to + i * capacity + at;
            for (let t = 0; t < count; t++) keys[target + t] = newKeys[source + t]!;
          }
        }
      }
    },
    copy(from, to, count) {
      for (const { keys, values } of layers) {
        for (let head = 0; head < kvHeads; head++) {
          const [source, target] = [from, to].map(
            (slot) => slot * size + head * capacity * headDim,
          ) as [number, number];
          values.copyWithin(target, source, source + count * headDim);
          for (let i = 0; i < headDim; i++) {
            const row = source + i * capacity;
            keys.copyWithin(target + i * capacity, row, row + count);
          }
        }
      }
    },
  };
}

/** A larger cache with the same keys and values. */
export function growKvCache(config: DecoderConfig, cache: KvCache, shape: KvCacheShape): KvCache {
  const { slots } = shape;
  const grown = kvCache(config, shape);
  const [from, to] = [cache.first(slots), grown.first(slots)];
  for (let layer = 0; layer < config.layers; layer++) {
    const { key, value } = cacheNames(layer);
    const { headDim, kvHeads } = config;
    copyRows(from[key]!, to[key]!, slots * kvHeads * headDim);
    copyRows(from[value]!, to[value]!, slots * kvHeads);
  }
  return grown;
}

/** Copies rows to the beginnings of longer rows. */
function copyRows(from: Tensor, to: Tensor, rows: number): void {
  const source = floats(from);
  const target = floats(to);
  const [short, long] = [source.length / rows, target.length / rows];
  for (let row = 0; row < rows; row++) {
    target.set(source.subarray(row * short, (row + 1) * short), row * long);
  }
}
