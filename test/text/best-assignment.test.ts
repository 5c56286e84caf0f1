import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { bestAssignment } from "../../src/text/best-assignment.ts";

function total(gain: readonly number[][], columns: readonly number[]): number {
  return columns.reduce((sum, column, row) => sum + (gain[row]?.[column] ?? 0), 0);
}

/** The greatest sum by trying everything. */
function best(gain: readonly number[][], row = 0, taken: readonly number[] = []): number {
  if (row === gain.length) return 0;
  const rest = gain[row]!.flatMap((value, column) =>
    taken.includes(column) ? [] : [value + best(gain, row + 1, [...taken, column])],
  );
  const skips = gain.length > gain[0]!.length ? [best(gain, row + 1, taken)] : [];
  return Math.max(...rest, ...skips, taken.length === gain[0]!.length ? 0 : -Infinity);
}

describe("bestAssignment", () => {
  it("finds the greatest sum, not the greatest first", () => {
    expect(
      bestAssignment([
        [1, 2],
        [3, 5],
      ]),
    ).toEqual([0, 1]);
    expect(
      bestAssignment([
        [5, 4],
        [4, 1],
      ]),
    ).toEqual([1, 0]);
  });

  it("leaves rows without a column where there are more rows", () => {
    expect(bestAssignment([[1], [3], [2]])).toEqual([-1, 0, -1]);
    expect(bestAssignment([[1, 3, 2]])).toEqual([1]);
  });

  it("equals trying everything, on random tables of every shape", () => {
    const draw = random(5);
    for (let i = 0; i < 300; i++) {
      const rows = 1 + draw.int(5);
      const columns = 1 + draw.int(5);
      const gain = Array.from({ length: rows }, () =>
        Array.from({ length: columns }, () => (draw.int(3) === 0 ? 0 : draw.next())),
      );
      const found = bestAssignment(gain);
      const used = found.filter((column) => column >= 0);
      expect(new Set(used).size).toBe(Math.min(rows, columns));
      expect(used.length).toBe(Math.min(rows, columns));
      expect(total(gain, found)).toBeCloseTo(best(gain), 12);
    }
  });
});
