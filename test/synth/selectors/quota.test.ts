import { describe, expect, it } from "vitest";
import { sampleFacts, select } from "../../helpers/sample-facts.ts";

/** So many samples of a cell, named by it. */
function cell(type: string | null, hops: number | null, count: number) {
  return Array.from({ length: count }, (_, i) =>
    sampleFacts(`${type}-${hops}-${i}`, { type, hops }),
  );
}

const samples = [...cell("bridge", 2, 10), ...cell("bridge", 3, 4), ...cell("comparison", 2, 2)];

function counts(kept: readonly string[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const id of kept) {
    const name = id.replace(/-\d+$/, "");
    all[name] = (all[name] ?? 0) + 1;
  }
  return all;
}

describe("quota", () => {
  it("keeps so many of each type and number of hops at most", () => {
    const { kept, dropped } = select("quota", samples, { most: 3 });
    expect(counts(kept)).toEqual({ "bridge-2": 3, "bridge-3": 3, "comparison-2": 2 });
    expect(dropped).toHaveLength(8);
    expect(dropped.every((line) => line.endsWith(": over the quota"))).toBe(true);
  });

  it("keeps as many as the shares and the scarcest cell allow", () => {
    // 4 of bridge/3 are a quarter: 8 of bridge/2 are a half, 4 left over; comparison/2 is not named.
    const shares = { "bridge/2": 2, "bridge/3": 1 };
    expect(counts(select("quota", samples, { shares }).kept)).toEqual({
      "bridge-2": 8,
      "bridge-3": 4,
    });
    const thirds = { "bridge/2": 0.3, "comparison/2": 0.1 };
    expect(counts(select("quota", samples, { shares: thirds }).kept)).toEqual({
      "bridge-2": 6,
      "comparison-2": 2,
    });
  });

  it("lets a named cell without samples count for nothing", () => {
    const shares = { "bridge/3": 1, "bridge/4": 1 };
    expect(counts(select("quota", samples, { shares }).kept)).toEqual({ "bridge-3": 4 });
    expect(select("quota", samples, { shares: { "bridge/9": 1 } }).kept).toEqual([]);
  });

  it("makes cells of other things, and of what is not known", () => {
    const mixed = [...cell(null, null, 3), ...cell("bridge", null, 1)];
    expect(counts(select("quota", mixed, { most: 2, by: ["type"] }).kept)).toEqual({
      "null-null": 2,
      "bridge-null": 1,
    });
    const shares = { "none/none": 1 };
    expect(counts(select("quota", mixed, { shares }).kept)).toEqual({ "null-null": 3 });
  });

  it("draws by the seed and keeps the order", () => {
    const [first, again, other] = [1, 1, 2].map(
      (seed) => select("quota", samples, { most: 3 }, seed).kept,
    );
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    const places = first!.map((id) => samples.findIndex((sample) => sample.id === id));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it.each([{}, { most: 1, shares: {} }])("refuses %o", (options) => {
    expect(() => select("quota", samples, options)).toThrow("expected either most or shares");
  });
});
