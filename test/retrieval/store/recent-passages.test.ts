import { describe, expect, it } from "vitest";
import {
  memoryStore,
  type PassageStore,
  recentPassages,
} from "../../../src/retrieval/store/passage-file.ts";

const passages = Array.from({ length: 20 }, (_, i) => ({ id: String(i), title: "", text: "x" }));

/** A store that tells which passages it was asked for. */
function watched(): { store: PassageStore; asked: number[] } {
  const asked: number[] = [];
  const inner = memoryStore(passages);
  const read = (position: number) => {
    asked.push(position);
    return inner.read(position);
  };
  return { store: { ...inner, read }, asked };
}

describe("recentPassages", () => {
  it("reads a passage once, and gives what the store gives", () => {
    const { store, asked } = watched();
    const recent = recentPassages(store);
    for (const position of [3, 5, 3, 3, 5]) {
      expect(recent.read(position)).toEqual(passages[position]);
    }
    expect(asked).toEqual([3, 5]);
    expect(recent.count).toBe(20);
  });

  it("forgets what was not read for longest, and keeps what was", () => {
    const { store, asked } = watched();
    // A passage counts 202 units, or 203 from the tenth on.
    const recent = recentPassages(store, 5 * 203);
    for (let position = 0; position < 15; position++) {
      recent.read(position);
      recent.read(0);
    }
    expect(asked).toEqual(Array.from({ length: 15 }, (_, i) => i));
    asked.length = 0;
    for (const position of [0, 14, 13, 12, 11]) recent.read(position);
    expect(asked).toEqual([]);
    recent.read(10);
    recent.read(0);
    expect(asked).toEqual([10, 0]);
  });
});
