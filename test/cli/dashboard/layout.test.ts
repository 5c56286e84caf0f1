import { describe, expect, it } from "vitest";
import { layoutOf, LEAST } from "../../../src/cli/dashboard/layout.ts";

const needs = { metrics: 11, events: 5, trajectory: true, more: 1 };

describe("the layout of a live view", () => {
  it("fits every terminal that it is shown on", () => {
    for (let columns = LEAST.columns; columns <= 220; columns += 7) {
      for (let rows = LEAST.rows; rows <= 60; rows++) {
        const found = layoutOf({ columns, rows }, needs);
        const { folder, gaps, metrics, events, trajectory } = found;
        // Head, work and keys, what was asked for, and three gaps.
        const used =
          3 + needs.more + Number(folder) + (gaps ? 3 : 0) + metrics + events + trajectory;
        expect(used, `${columns}×${rows}`).toBeLessThan(rows);
        expect(found.columns).toBeLessThan(columns);
      }
    }
  });

  it("gives up the rollout first, then events, and metrics last", () => {
    expect(layoutOf({ columns: 60, rows: 40 }, needs).trajectory).toBeGreaterThan(10);
    expect(layoutOf({ columns: 60, rows: 20 }, needs)).toMatchObject({
      ...{ metrics: 11, events: 1, trajectory: 0 },
    });
    expect(layoutOf({ columns: 60, rows: 15 }, needs)).toMatchObject({
      ...{ metrics: 10, events: 0, trajectory: 0 },
    });
  });

  it("puts metrics beside each other where height is short or width is plenty", () => {
    expect(layoutOf({ columns: 80, rows: 24 }, needs).metricColumns).toBe(2);
    expect(layoutOf({ columns: 120, rows: 40 }, needs).metricColumns).toBe(1);
    expect(layoutOf({ columns: 200, rows: 50 }, needs).metricColumns).toBe(2);
  });
});
