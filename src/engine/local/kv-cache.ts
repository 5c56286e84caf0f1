import type { DecoderConfig } from "../../models/config.ts";
import { HOST_INPUTS } from "../../models/host-sampling-graph.ts";
import { rotaryAngles } from "../../models/rope.ts";
import { cacheNames } from "../../models/sampling-graph.ts";
import { floats, tensorOf, type Tensor } from "../../onnx/session.ts";

/** Keys and values of all slots in host memory, [slots, KV, capacity, d] by layer. Graphs read it; `write` fills it. */
export interface KvCache {
  /** Positions per slot. */
  readonly capacity: number;
  /** Tensors over the first slots, by input name, with the tables of positions. */
  first(count: number): Feeds;
  /** The same over one slot's part of the memory. */
  slot(index: number): Feeds;
  /** The same of a slot without positions. */
  readonly nothing: Feeds;
  /**
   * Stores the keys and values that a run computed for new tokens.
   * @param results the run's outputs.
   * @param place.row row of the results, `place.slot` target slot, `place.at` position of the first token.
   */
  write(results: Feeds, place: { row: number; slot: number; at: number }): void;
  /** Copies the first `count` positions of one slot to another. */
  copy(from: number, to: number, count: number): void;
}

type Feeds = Readonly<Record<string, Tensor>>;

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
  const names = Array.from({ length: config.layers }, (_, layer) => cacheNames(layer)).flatMap(
    ({ key, value }) => [key, value],
  );
  const held = names.map((name) => ({ name, numbers: new Float32Array(slots * size) }));
  const angles = rotaryAngles(config, capacity + shape.chunk);
  const table = (of: (angle: number) => number): Tensor =>
    tensorOf(Float32Array.from(angles, of), [capacity + shape.chunk, headDim / 2]);
  const tables = { [HOST_INPUTS.cos]: table(Math.cos), [HOST_INPUTS.sin]: table(Math.sin) };
  const places = (count: number): Tensor =>
    tensorOf(
      Int32Array.from({ length: count }, (_, at) => at),
      [count],
    );
  const all = { ...tables, [HOST_INPUTS.cached]: places(capacity) };
  const view = (from: number, count: number): Feeds => ({
    ...all,
    ...Object.fromEntries(
      held.map(({ name, numbers }) => [
        name,
        tensorOf(numbers.subarray(from * size, (from + count) * size), [
          ...[count, kvHeads, capacity, headDim],
        ]),
      ]),
    ),
  });
  const none = tensorOf(new Float32Array(0), [1, kvHeads, 0, headDim]);
  const views = Array.from({ length: slots }, (_, index) => view(index, 1));
  return {
    capacity,
    first: (count) => view(0, count),
    slot: (index) => views[index]!,
    nothing: {
      ...tables,
      [HOST_INPUTS.cached]: places(0),
      ...Object.fromEntries(names.map((name) => [name, none])),
    },
    write(results, { row, slot, at }) {
      for (const { name, numbers } of held) {
        const fresh = results[`${name}.new`]!;
        const length = fresh.dims[2]! * headDim;
        for (let head = 0; head < kvHeads; head++) {
          const from = (row * kvHeads + head) * length;
          const to = slot * size + (head * capacity + at) * headDim;
          numbers.set(floats(fresh).subarray(from, from + length), to);
        }
      }
    },
    copy(from, to, count) {
      for (const { numbers } of held) {
        for (let head = 0; head < kvHeads; head++) {
          const within = head * capacity * headDim;
          const source = from * size + within;
          numbers.copyWithin(to * size + within, source, source + count * headDim);
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
    for (const name of Object.values(cacheNames(layer))) {
      copyRows(from[name]!, to[name]!, slots * config.kvHeads);
    }
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
