import type { DecoderConfig } from "../../models/config.ts";
import { HOST_INPUTS } from "../../models/host-sampling-graph.ts";
import { rotaryAngles } from "../../models/rope.ts";
import { cacheNames } from "../../models/sampling-graph.ts";
import { floats, tensorOf, type Tensor } from "../../onnx/session.ts";

/** Keys and values of all slots in host memory, [slots, KV, capacity, d] by layer. Graphs read it; `write` fills it. */
export interface KvCache {
  readonly capacity: number;
  first(count: number): Feeds;
  slot(index: number): Feeds;
  nothing(): Feeds;
  /** Stores a run's keys and values of new tokens. @param place `row` of the results, target `slot`, `at` the first token's position. */
  write(results: Feeds, place: { row: number; slot: number; at: number }): void;
  copy(from: number, to: number, count: number): void;
  /** Makes room for more positions. Layer by layer, so that never more than one layer is there twice. */
  grow(capacity: number): void;
  /** Empties it, with room for the fewest positions. @returns the bytes that became garbage. */
  clear(): number;
}

type Feeds = Readonly<Record<string, Tensor>>;

export type KvCacheShape = { slots: number; capacity: number; chunk: number };

export function kvCache(config: DecoderConfig, shape: KvCacheShape): KvCache {
  const { kvHeads, headDim, layers } = config;
  const { slots, chunk } = shape;
  const names = Array.from({ length: layers }, (_, layer) => cacheNames(layer)).flatMap(
    ({ key, value }) => [key, value],
  );
  let capacity = shape.capacity;
  let tables = tablesFor(config, capacity, chunk);
  const floatsFor = (positions: number): Float32Array =>
    new Float32Array(slots * kvHeads * positions * headDim);
  const held = names.map((name) => ({ name, numbers: floatsFor(capacity) }));
  const view = (from: number, count: number): Feeds => {
    const size = kvHeads * capacity * headDim;
    const dims = [count, kvHeads, capacity, headDim];
    const part = ({ name, numbers }: (typeof held)[number]): [string, Tensor] => [
      name,
      tensorOf(numbers.subarray(from * size, (from + count) * size), dims),
    ];
    return { ...tables, ...Object.fromEntries(held.map(part)) };
  };
  const none = tensorOf(new Float32Array(0), [1, kvHeads, 0, headDim]);
  const resize = (positions: number, filled: (numbers: Float32Array) => Float32Array): void => {
    for (const each of held) each.numbers = filled(each.numbers);
    capacity = positions;
    tables = tablesFor(config, positions, chunk);
  };
  return {
    get capacity() {
      return capacity;
    },
    first: (count) => view(0, count),
    slot: (index) => view(index, 1),
    nothing: () => ({
      ...tables,
      [HOST_INPUTS.cached]: places(0),
      ...Object.fromEntries(names.map((name) => [name, none])),
    }),
    write(results, { row, slot, at }) {
      for (const { name, numbers } of held) {
        const fresh = results[`${name}.new`]!;
        const length = fresh.dims[2]! * headDim;
        for (let head = 0; head < kvHeads; head++) {
          const from = (row * kvHeads + head) * length;
          const to = ((slot * kvHeads + head) * capacity + at) * headDim;
          numbers.set(floats(fresh).subarray(from, from + length), to);
        }
      }
    },
    copy(from, to, count) {
      for (const { numbers } of held) {
        for (let head = 0; head < kvHeads; head++) {
          const at = (slot: number): number => (slot * kvHeads + head) * capacity * headDim;
          numbers.copyWithin(at(to), at(from), at(from) + count * headDim);
        }
      }
    },
    grow(positions) {
      resize(positions, (numbers) => {
        const grown = floatsFor(positions);
        copyRows(numbers, grown, slots * kvHeads);
        return grown;
      });
    },
    clear() {
      const bytes = held.reduce((sum, { numbers }) => sum + numbers.byteLength, 0);
      resize(shape.capacity, () => floatsFor(shape.capacity));
      return bytes;
    },
  };
}

function tablesFor(config: DecoderConfig, capacity: number, chunk: number): Feeds {
  const angles = rotaryAngles(config, capacity + chunk);
  const table = (of: (angle: number) => number): Tensor =>
    tensorOf(Float32Array.from(angles, of), [capacity + chunk, config.headDim / 2]);
  return {
    [HOST_INPUTS.cos]: table(Math.cos),
    [HOST_INPUTS.sin]: table(Math.sin),
    [HOST_INPUTS.cached]: places(capacity),
  };
}

function places(count: number): Tensor {
  const numbers = Int32Array.from({ length: count }, (_, at) => at);
  return tensorOf(numbers, [count]);
}

function copyRows(source: Float32Array, target: Float32Array, rows: number): void {
  const [short, long] = [source.length / rows, target.length / rows];
  for (let row = 0; row < rows; row++)
    target.set(source.subarray(row * short, (row + 1) * short), row * long);
}
