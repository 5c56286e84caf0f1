import { growingArray } from "./growing-array.ts";

/** Which items hold which keys: 32-bit keys, items by number. Millions of entries take a few typed arrays. */
interface Postings {
  add(key: number, item: number): void;
  /** Items that hold a key. */
  count(key: number): number;
  /** Those items, the last one added first. */
  items(key: number): Iterable<number>;
}

const LOAD = 0.6;

/** None yet. */
export function postings(): Postings {
  let slots = emptySlots(1024);
  let used = 0;
  // Entry 0 is none: a list ends there.
  const items = growingArray();
  const next = growingArray();
  items.push(0);
  next.push(0);
  return {
    add(key, item) {
      if (used > slots.keys.length * LOAD) slots = widened(slots);
      const slot = slotOf(slots, key);
      const before = slots.heads[slot] ?? 0;
      if (before === 0) {
        slots.keys[slot] = key;
        used += 1;
      }
      slots.heads[slot] = items.length;
      slots.counts[slot] = (slots.counts[slot] ?? 0) + 1;
      items.push(item);
      next.push(before);
    },
    count: (key) => slots.counts[slotOf(slots, key)] ?? 0,
    *items(key) {
      for (let at = slots.heads[slotOf(slots, key)] ?? 0; at !== 0; at = next.at(at)) {
        yield items.at(at);
      }
    },
  };
}

/** A table with open addressing; a slot whose head is 0 is free. */
interface Slots {
  keys: Uint32Array;
  heads: Uint32Array;
  counts: Uint32Array;
}

function emptySlots(size: number): Slots {
  return {
    keys: new Uint32Array(size),
    heads: new Uint32Array(size),
    counts: new Uint32Array(size),
  };
}

/** The slot that holds a key, or the free one where it belongs. */
function slotOf({ keys, heads }: Slots, key: number): number {
  const mask = keys.length - 1;
  let slot = Math.imul(key, 0x9e3779b1) & mask;
  while (heads[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & mask;
  return slot;
}

function widened(slots: Slots): Slots {
  const wider = emptySlots(slots.keys.length * 2);
  slots.heads.forEach((head, from) => {
    if (head === 0) return;
    const key = slots.keys[from] ?? 0;
    const slot = slotOf(wider, key);
    wider.keys[slot] = key;
    wider.heads[slot] = head;
    wider.counts[slot] = slots.counts[from] ?? 0;
  });
  return wider;
}
