import type { DecoderConfig } from "../../models/config.ts";
import { groupInputs, HOST_INPUTS } from "../../models/host-sampling-graph.ts";
import { rotaryAngles } from "../../models/rope.ts";
import { CACHE_STEP, cacheNames } from "../../models/sampling-graph.ts";
import { floats, tensorOf, type Tensor } from "../../onnx/session.ts";

/**
 * Keys and values of sequences in host memory. A sequence that waits has arrays of its own; while it is decoded it stands in a row of one
 * of ROW_GROUPS, whose rows are equally long. Graphs read it; `write` fills it.
 */
export interface KvCache {
  /** One sequence, to compute `chunk` new tokens at position `at`; its cache has room for as many as are to come. */
  alone(slot: number, tokens: { at: number; chunk: number; room: number }): Feeds;
  /**
   * Puts these sequences, and no others, into rows, to compute one token of each.
   * @param rows of the graph, at least as many. @returns `order`: by row, the index in `newest`; null: a row without a sequence.
   */
  together(newest: readonly Place[], rows: number): { feeds: Feeds; order: (number | null)[] };
  /** Stores a run's keys and values of new tokens. @param place `row` of the results, and the first token's position `at`. */
  write(results: Feeds, place: { row: number; slot: number; at: number }): void;
  copy(from: number, to: number, count: number): void;
  /** Empties it. @returns the bytes that became garbage. */
  clear(): number;
}

type Feeds = Readonly<Record<string, Tensor>>;
type Place = { slot: number; position: number };

/** Positions of the groups' caches; the last one's are as many as its rows need. Chosen by measurement: docs/lab-log.md. */
const LENGTHS = [128, 384, Infinity] as const;

export const ROW_GROUPS = LENGTHS.length;

/** A sequence comes into a group in which it can grow by so many tokens: a move costs as much as some steps of attention. */
const MARGIN = 32;
/** Rows of a group's first arrays. */
const FEWEST_ROWS = 8;

/** Arrays of some rows, [rows, KV, capacity, d] for each name. */
type Store = { rows: number; capacity: number; arrays: Float32Array[] };

/** Rows beside each other. `slots`: the sequence in each row that is in use. */
type Group = Store & { slots: number[] };

/** Where a sequence's cache is. */
type Spot = { store: Store; row: number };

export function kvCache(config: DecoderConfig, shape: { slots: number; chunk: number }): KvCache {
  const { kvHeads, headDim, layers } = config;
  const names = Array.from({ length: layers }, (_, layer) => cacheNames(layer)).flatMap(
    ({ key, value }) => [key, value],
  );
  const arrayOf = (rows: number, capacity: number): Float32Array =>
    new Float32Array(rows * kvHeads * capacity * headDim);
  const storeOf = (rows: number, capacity: number): Store => {
    return { rows, capacity, arrays: names.map(() => arrayOf(rows, capacity)) };
  };
  const groups = LENGTHS.map((): Group => ({ ...storeOf(0, 0), slots: [] }));
  const spots = Array.from({ length: shape.slots }, (): Spot => ({ store: storeOf(1, 0), row: 0 }));
  /** Positions in use per slot. */
  const filled = new Array<number>(shape.slots).fill(0);
  let tables = tablesFor(config, CACHE_STEP + shape.chunk);

  /** Whatever a sequence has behind its next position was dropped or is padding: no token sees it, and no copy has room for it. */
  function shorten(slot: number, position: number): void {
    filled[slot] = Math.min(filled[slot]!, position);
  }

  /** Copies the first positions of one array. */
  function copyRow(name: number, from: Spot, to: Spot, count: number): void {
    const at = ({ store, row }: Spot, head: number): number =>
      (row * kvHeads + head) * store.capacity * headDim;
    const source = from.store.arrays[name]!;
    const target = to.store.arrays[name]!;
    for (let head = 0; head < kvHeads; head++) {
      const first = at(from, head);
      target.set(source.subarray(first, first + count * headDim), at(to, head));
    }
  }

  function copyAll(from: Spot, to: Spot, count: number): void {
    for (let name = 0; name < names.length; name++) copyRow(name, from, to, count);
  }

  /** Makes room for rows and positions, array by array, so that never more than one is there twice. */
  function makeRoom(group: Group, rows: number, positions: number): void {
    const more = rows > group.rows ? Math.max(FEWEST_ROWS, rows, 2 * group.rows) : group.rows;
    const capacity = Math.max(group.capacity, stepsOf(positions));
    if (more === group.rows && capacity === group.capacity) return;
    const old: Store = { ...group, arrays: [...group.arrays] };
    Object.assign(group, { rows: more, capacity });
    for (let name = 0; name < names.length; name++) {
      group.arrays[name] = arrayOf(more, capacity);
      group.slots.forEach((slot, row) =>
        copyRow(name, { store: old, row }, { store: group, row }, filled[slot]!),
      );
      old.arrays[name] = group.arrays[name]!;
    }
  }

  function move(slot: number, to: Spot): void {
    const from = spots[slot]!;
    copyAll(from, to, filled[slot]!);
    spots[slot] = to;
    const group = groups.find((each) => each === from.store);
    if (group === undefined) return;
    // The last row moves into the gap.
    const last = group.slots.pop()!;
    if (last !== slot) {
      group.slots[from.row] = last;
      copyAll(spots[last]!, from, filled[last]!);
      spots[last] = from;
    }
    if (group.slots.length === 0) Object.assign(group, storeOf(0, 0));
  }

  /** Puts a sequence into a row of the first group in which it has room to grow, or makes this room. */
  function seat(slot: number, position: number): void {
    const index = LENGTHS.findIndex((length) => position + MARGIN < length);
    const group = groups[index]!;
    const row = group.slots.length;
    const isHere = spots[slot]!.store === group;
    makeRoom(group, isHere ? row : row + 1, Math.min(LENGTHS[index]!, position + MARGIN));
    if (isHere) return;
    move(slot, { store: group, row });
    group.slots.push(slot);
  }

  function feedsOf(parts: readonly { store: Store; rows: number }[], chunk: number): Feeds {
    const longest = Math.max(...parts.map((part) => part.store.capacity));
    if (longest + shape.chunk > tables.positions)
      tables = tablesFor(config, 2 * longest + shape.chunk);
    const counts = BigInt64Array.from(parts, ({ rows }) => BigInt(rows));
    const feeds: Record<string, Tensor> = {
      ...tables.feeds,
      [HOST_INPUTS.groupRows]: tensorOf(counts, [parts.length]),
    };
    parts.forEach(({ store: { capacity, arrays }, rows }, i) => {
      const { cached, lengths } = groupInputs(i);
      feeds[cached] = tensorOf(tables.places.subarray(0, capacity), [capacity]);
      feeds[lengths] = tensorOf(BigInt64Array.of(BigInt(capacity), BigInt(chunk)), [2]);
      const dims = [rows, kvHeads, capacity, headDim];
      names.forEach((name, at) => {
        const numbers = arrays[at]!.subarray(0, rows * kvHeads * capacity * headDim);
        feeds[`${name}.${i}`] = tensorOf(numbers, dims);
      });
    });
    return feeds;
  }

  return {
    alone(slot, { at, chunk, room }) {
      shorten(slot, at);
      const { store } = spots[slot]!;
      const isShort = store.capacity < room;
      if (isShort || groups.includes(store as Group))
        move(slot, { store: storeOf(1, stepsOf(room)), row: 0 });
      const own = at === 0 ? storeOf(1, 0) : spots[slot]!.store;
      const others = groups.slice(1).map(() => ({ store: storeOf(0, 0), rows: 0 }));
      return feedsOf([{ store: own, rows: 1 }, ...others], chunk);
    },
    together(newest, rows) {
      const active = new Map(newest.map(({ slot }, i) => [slot, i]));
      for (const slot of groups.flatMap((group) => group.slots)) {
        if (!active.has(slot)) move(slot, { store: storeOf(1, stepsOf(filled[slot]!)), row: 0 });
      }
      for (const { slot, position } of newest) {
        shorten(slot, position);
        const { store } = spots[slot]!;
        if (!groups.includes(store as Group) || position >= store.capacity) seat(slot, position);
      }
      const idle = rows - newest.length;
      const [first] = groups as [Group];
      if (idle > 0) makeRoom(first, first.slots.length + idle, LENGTHS[0]);
      const order = groups.flatMap((group) =>
        group.slots.map((slot): number | null => active.get(slot)!),
      );
      order.splice(first.slots.length, 0, ...Array.from({ length: idle }, () => null));
      const parts = groups.map((group) => {
        return { store: group, rows: group.slots.length + (group === first ? idle : 0) };
      });
      return { feeds: feedsOf(parts, 1), order };
    },
    write(results, { row, slot, at }) {
      const spot = spots[slot]!;
      const { capacity, arrays } = spot.store;
      names.forEach((name, i) => {
        const fresh = results[`${name}.new`]!;
        const length = fresh.dims[2]! * headDim;
        for (let head = 0; head < kvHeads; head++) {
          const from = (row * kvHeads + head) * length;
          const to = ((spot.row * kvHeads + head) * capacity + at) * headDim;
          arrays[i]!.set(floats(fresh).subarray(from, from + length), to);
        }
      });
      filled[slot] = at + results[`${names[0]!}.new`]!.dims[2]!;
    },
    copy(from, to, count) {
      filled[to] = 0;
      move(to, { store: storeOf(1, stepsOf(count)), row: 0 });
      copyAll(spots[from]!, spots[to]!, count);
      filled[to] = count;
    },
    clear() {
      const stores = new Set([...groups, ...spots.map(({ store }) => store)]);
      const bytes = [...stores].flatMap(({ arrays }) => arrays.map((each) => each.byteLength));
      for (const group of groups) Object.assign(group, storeOf(0, 0), { slots: [] });
      spots.forEach((_, slot) => (spots[slot] = { store: storeOf(1, 0), row: 0 }));
      filled.fill(0);
      return bytes.reduce((sum, each) => sum + each, 0);
    },
  };
}

/** Softmax sums in lanes: caches are of whole steps, so that a position's lane does not depend on their length. */
function stepsOf(positions: number): number {
  return CACHE_STEP * Math.ceil(positions / CACHE_STEP);
}

function tablesFor(
  config: DecoderConfig,
  positions: number,
): { positions: number; places: Int32Array; feeds: Feeds } {
  const angles = rotaryAngles(config, positions);
  const table = (of: (angle: number) => number): Tensor =>
    tensorOf(Float32Array.from(angles, of), [positions, config.headDim / 2]);
  return {
    positions,
    places: Int32Array.from({ length: positions }, (_, at) => at),
    feeds: { [HOST_INPUTS.cos]: table(Math.cos), [HOST_INPUTS.sin]: table(Math.sin) },
  };
}
