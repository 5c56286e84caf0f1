import { expect, it } from "vitest";
import { kvCache } from "../../../src/engine/local/kv-cache.ts";
import { cacheNames } from "../../../src/models/sampling-graph.ts";
import { tensorOf } from "../../../src/onnx/session.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

const { kvHeads, headDim, layers } = tinyConfig;

/** Keys and values of new tokens, as a graph gives them. */
function fresh(count: number) {
  const names = Array.from({ length: layers }, (_, layer) => cacheNames(layer)).flatMap(
    ({ key, value }) => [key, value],
  );
  const numbers = new Float32Array(kvHeads * count * headDim).fill(1);
  return Object.fromEntries(
    names.map((name) => [`${name}.new`, tensorOf(numbers, [1, kvHeads, count, headDim])]),
  );
}

it("takes sequences that were shortened into rows for their own length", () => {
  // As many as a group has rows at first: behind the last one there is no room.
  const slots = Array.from({ length: 8 }, (_, slot) => slot);
  const cache = kvCache(tinyConfig, { slots: 8, chunk: 8 });
  for (const slot of slots) {
    cache.alone(slot, { at: 0, chunk: 300, room: 300 });
    cache.write(fresh(300), { row: 0, slot, at: 0 });
  }
  const newest = slots.map((slot) => ({ slot, position: 60 }));
  expect(cache.together(newest, 8).order).toEqual(slots);
});

it("moves a sequence that was shortened into a cache for its own length", () => {
  const cache = kvCache(tinyConfig, { slots: 2, chunk: 8 });
  cache.alone(0, { at: 0, chunk: 300, room: 300 });
  cache.write(fresh(300), { row: 0, slot: 0, at: 0 });
  cache.together([{ slot: 0, position: 300 }], 1);
  const feeds = cache.alone(0, { at: 40, chunk: 8, room: 48 });
  expect(feeds[`${cacheNames(0).key}.0`]?.dims).toEqual([1, kvHeads, 64, headDim]);
});
