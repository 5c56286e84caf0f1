import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import {
  type KernelMemory,
  kernelMemory,
  CANDIDATE_SUMS_AT,
  CANDIDATES_AT,
  ENTRY_BYTES,
  FREE_AT,
  MARKS_AT,
  STRETCH,
  WINDOW,
} from "../../../src/retrieval/bm25/sum-kernel.ts";

const BYTES = FREE_AT + (1 << 16);
const BASE = FREE_AT + 4096;

/** Random blocks at `BASE`, their table at `FREE_AT`, and random sums in some stretches. */
function fill({ views }: KernelMemory, seed: string, start: number): number {
  const draw = random(seed);
  const { u8, u16, i32 } = views;
  let address = BASE;
  let entry = FREE_AT;
  for (let block = 0; block < 12; block++) {
    const count = 1 + draw.int(128);
    const distances = Array.from({ length: count }, () => draw.int(9000)).sort((a, b) => a - b);
    distances.forEach((distance, i) => (u16[(address >> 1) + i] = distance));
    for (let i = 0; i < count; i++) u8[address + 2 * count + i] = 1 + draw.int(255);
    i32.set(
      [
        ...[address - BASE, address - BASE + 2 * count, address - BASE + 2 * count],
        start + draw.int(60_000),
      ],
      entry >> 2,
    );
    entry += ENTRY_BYTES;
    address += Math.ceil((3 * count) / 8) * 8;
  }
  for (const stretch of [0, 7, 120]) {
    for (let i = 0; i < STRETCH; i += 1 + draw.int(40)) {
      i32[stretch * STRETCH + i] = 1 + draw.int(10_000);
    }
    u8[MARKS_AT + stretch] = 1;
  }
  return entry;
}

/** Two memories with the same content: WebAssembly's and JavaScript's. */
function both(seed: string, start: number) {
  const memories = [kernelMemory(BYTES), kernelMemory(BYTES, null)] as const;
  const [end] = memories.map((memory) => fill(memory, seed, start));
  return { memories, end: end! };
}

function same([one, other]: readonly [KernelMemory, KernelMemory]): void {
  expect(
    Buffer.compare(one.views.u8.subarray(0, FREE_AT), other.views.u8.subarray(0, FREE_AT)),
  ).toBe(0);
}

describe.each(["a", "b", "c", "d"])("the loops in WebAssembly, on blocks %s", (seed) => {
  const start = seed === "a" ? 0 : 1_000_000;

  it.each(["addAll", "addSummed"] as const)("%s does what it does in JavaScript", (name) => {
    const { memories, end } = both(seed, start);
    for (const { kernel } of memories) {
      kernel[name](FREE_AT, end, BASE, start, 3);
      kernel[name](FREE_AT, FREE_AT + ENTRY_BYTES, BASE, start, 1_000_000);
    }
    const { i32, u8 } = memories[0].views;
    expect(i32.subarray(0, WINDOW).some((sum) => sum > 1_000_000)).toBe(name === "addAll");
    if (name === "addAll") {
      // Every sum lies in a marked stretch, and sums are compared without marks: those of JavaScript are exact.
      for (let at = 0; at < WINDOW; at++) {
        if (i32[at] !== 0) expect(u8[MARKS_AT + Math.floor(at / STRETCH)]).toBe(1);
      }
      for (const { views } of memories) views.u8.fill(1, MARKS_AT, CANDIDATES_AT);
    }
    same(memories);
  });

  it("lists the largest sum of each marked stretch", () => {
    const { memories } = both(seed, start);
    const ends = memories.map(({ kernel }) =>
      kernel.largest(MARKS_AT, MARKS_AT + 128, CANDIDATES_AT),
    );
    expect(ends).toEqual([CANDIDATES_AT + 12, CANDIDATES_AT + 12]);
    const { i32 } = memories[0].views;
    const list = CANDIDATES_AT >> 2;
    expect([...i32.subarray(list, list + 3)]).toEqual([0, 7 * STRETCH, 120 * STRETCH]);
    const best = Math.max(...i32.subarray(7 * STRETCH, 8 * STRETCH));
    expect(i32[(CANDIDATE_SUMS_AT >> 2) + 1]).toBe(best);
    same(memories);
  });

  it.each([0, 5000, 9999, 20_000])("lists the sums above %d and clears them", (limit) => {
    const { memories, end } = both(seed, start);
    for (const { kernel } of memories) kernel.addAll(FREE_AT, end, BASE, start, 20);
    const sums = [...memories[0].views.i32.subarray(0, WINDOW)];
    const stretches = Math.ceil(WINDOW / STRETCH);
    const ends = memories.map(({ kernel, views }) => {
      for (let at = 0; at < WINDOW; at++) {
        if (sums[at] !== 0) views.u8[MARKS_AT + Math.floor(at / STRETCH)] = 1;
      }
      return kernel.scan(MARKS_AT, MARKS_AT + stretches, limit, CANDIDATES_AT);
    });
    expect(ends[0]).toBe(ends[1]);
    const listed = (ends[0]! - CANDIDATES_AT) >> 2;
    const expected = sums.flatMap((sum, i) => (sum > limit ? [i] : []));
    const { i32 } = memories[0].views;
    const list = CANDIDATES_AT >> 2;
    expect([...i32.subarray(list, list + listed)]).toEqual(expected);
    expect(memories[0].views.u8.subarray(0, CANDIDATES_AT).every((byte) => byte === 0)).toBe(true);
    same(memories);
  });
});

describe("kernelMemory", () => {
  it.each([undefined, null])("grows and keeps what it holds (%s)", (api) => {
    const memory = kernelMemory(FREE_AT, api);
    memory.views.i32[5] = 77;
    memory.views.u8[MARKS_AT] = 1;
    memory.grow(FREE_AT + 10_000_000);
    expect(memory.views.u8.length).toBeGreaterThanOrEqual(FREE_AT + 10_000_000);
    expect(memory.kernel.scan(MARKS_AT, MARKS_AT + 1, 0, CANDIDATES_AT)).toBe(CANDIDATES_AT + 4);
    expect(memory.views.i32[CANDIDATES_AT >> 2]).toBe(5);
    expect(memory.views.i32[CANDIDATE_SUMS_AT >> 2]).toBe(77);
  });
});
