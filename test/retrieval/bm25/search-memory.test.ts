import { describe, expect, it } from "vitest";
import { searchMemory, separateMemory } from "../../../src/retrieval/bm25/sum-kernel.ts";

function bytes(count: number, value: number): Uint8Array {
  return new Uint8Array(count).fill(value);
}

describe("searchMemory", () => {
  it("stores pieces behind each other at multiples of 8", () => {
    const memory = searchMemory(100);
    const one = memory.store([bytes(16, 1), bytes(3, 2)]);
    const two = memory.store([bytes(5, 3)]);
    expect(one.at % 8).toBe(0);
    expect([one.bytes, two.bytes, two.at - one.at]).toEqual([24, 8, 24]);
    const { u8 } = memory.memory.views;
    expect([...u8.subarray(one.at, one.at + 19)]).toEqual([...bytes(16, 1), 2, 2, 2]);
  });

  it("grows as far as it must", () => {
    const memory = searchMemory(0);
    const stored = Array.from({ length: 30 }, (_, i) => memory.store([bytes(1_000_000, i + 1)]));
    const { u8 } = memory.memory.views;
    stored.forEach(({ at }, i) => {
      expect([u8[at], u8[at + 999_999]]).toEqual([i + 1, i + 1]);
    });
  });

  it("forgets what it is not told to keep, and uses its room again", () => {
    const memory = searchMemory(0);
    const stored = Array.from({ length: 10 }, (_, i) => memory.store([bytes(1000, i + 1)]));
    const first = stored[0]!.at;
    const kept = [stored[7]!, stored[2]!, stored[4]!];
    memory.keep(kept);
    const { u8 } = memory.memory.views;
    expect(kept.map(({ at }) => at - first)).toEqual([2000, 0, 1000]);
    expect(kept.map(({ at }) => [u8[at], u8[at + 999]])).toEqual([
      [8, 8],
      [3, 3],
      [5, 5],
    ]);
    expect(memory.store([bytes(8, 99)]).at).toBe(first + 3000);
  });
});

describe("separateMemory", () => {
  it("gives every piece memory of its own", () => {
    const [one, two] = [separateMemory.store([bytes(3, 1)]), separateMemory.store([bytes(3, 2)])];
    expect([one.at, one.bytes, two.at, two.bytes]).toEqual([0, 8, 0, 8]);
    expect(one.memory.views.u8.buffer).not.toBe(two.memory.views.u8.buffer);
  });
});
