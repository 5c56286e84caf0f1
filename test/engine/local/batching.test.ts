import { describe, expect, it } from "vitest";
import type { TrainingRow } from "../../../src/engine/engine.ts";
import { microBatches } from "../../../src/engine/local/batching.ts";

function rows(...lengths: number[]): TrainingRow[] {
  return lengths.map((length) => {
    const ids = new Array<number>(length).fill(1);
    return { inputs: ids, targets: ids, fields: { weights: ids } };
  });
}

describe("microBatches", () => {
  it("makes nothing of nothing", () => {
    expect(microBatches([], 1024)).toEqual([]);
  });

  it("puts rows of like length together, the longest first", () => {
    // Lengths are padded to multiples of 32; rows 1 and 3 go together, then 0 and 2.
    const batches = microBatches(rows(20, 60, 30, 64), 128);
    expect(batches.map((each) => each.rows)).toEqual([
      [3, 1],
      [2, 0],
    ]);
    expect(batches.map(({ length }) => length)).toEqual([64, 32]);
  });

  it("gives a row that is longer than a micro-batch one of its own", () => {
    const batches = microBatches(rows(500, 400), 128);
    expect(batches.map(({ rows, length }) => [rows, length])).toEqual([
      [[0], 512],
      [[1], 416],
    ]);
  });

  it("keeps every row exactly once and none longer than its shape", () => {
    const all = rows(...Array.from({ length: 37 }, (_, i) => 1 + ((i * 29) % 90)));
    const batches = microBatches(all, 256);
    expect(batches.flatMap((each) => each.rows).sort((a, b) => a - b)).toEqual(
      all.map((_, i) => i),
    );
    for (const { rows: members, batch, length } of batches) {
      expect(members.length).toBeLessThanOrEqual(batch);
      expect(batch * length).toBeLessThanOrEqual(256);
      for (const member of members) expect(all[member]!.inputs.length).toBeLessThanOrEqual(length);
    }
  });

  it("does not compute rows that are not there: the last is of half the size, or a quarter", () => {
    const sizes = (count: number): number[] =>
      microBatches(rows(...new Array<number>(count).fill(100)), 1024).map(({ batch }) => batch);
    expect([1, 2, 3, 4].map((count) => sizes(count))).toEqual([[1], [2], [4], [4]]);
    expect(sizes(17)).toEqual([6, 6, 6]);
  });

  it("pads long rows in longer steps", () => {
    const lengths = [500, 520, 1000, 1030].map((n) => microBatches(rows(n), 4096)[0]!.length);
    expect(lengths).toEqual([512, 576, 1024, 1152]);
  });

  it("chooses the size with which the busiest worker computes the fewest rows", () => {
    const shapes = (count: number, workers: number): number[] =>
      microBatches(rows(...new Array<number>(count).fill(160)), 1024, workers).map((b) => b.batch);
    // At most 6 rows of 160 positions. Two workers: 3 · 6 = 18 rows each with 6 together, 4 · 4 = 16 with 4.
    expect(shapes(32, 2)).toEqual(new Array(8).fill(4));
    // One worker: 36 rows with 6, 32 with 4.
    expect(shapes(32, 1)).toEqual(new Array(8).fill(4));
    // 12 rows are two full micro-batches.
    expect(shapes(12, 2)).toEqual([6, 6]);
    // 6 rows: 6 for one worker alone, or 3 each.
    expect(shapes(6, 2)).toEqual([3, 3]);
  });

  it("scores only targets that have a weight", () => {
    const [row] = rows(100);
    const sparse = { ...row!, fields: { weights: row!.targets.map((_, i) => (i < 90 ? 0 : 1)) } };
    expect(microBatches([sparse], 1024)[0]!.scored).toBe(16);
    expect(microBatches(rows(100, 100), 1024)[0]!.scored).toBeGreaterThanOrEqual(200);
  });
});
