import { describe, expect, it } from "vitest";
import { layoutOf, LEAST } from "../../../src/cli/dashboard/layout.ts";

const needs = { metrics: 11, events: 5, evaluations: 6, trajectory: true, more: 1 };

describe("the layout of a live view", () => {
  it("fits every terminal that it is shown on", () => {
    for (let columns = LEAST.columns; columns <= 220; columns += 7) {
      for (let rows = LEAST.rows; rows <= 60; rows++) {
        const found = layoutOf({ columns, rows }, needs);
        const { folder, gaps, metrics, events, trajectory, headings, evaluations } = found;
        // Head, work and keys, what was asked for, three gaps, and headings.
        const used =
          3 + needs.more + Number(folder) + (gaps ? 3 : 0) + Number(headings) + evaluations +
          metrics + found.tallCurves * (found.curveHeight - 1) + events + trajectory; // prettier-ignore
        expect(used, `${columns}×${rows}`).toBeLessThan(rows);
        expect(found.columns).toBeLessThan(columns);
      }
    }
  });

  it("gives up the rollout first, then events, and metrics last", () => {
    expect(layoutOf({ columns: 60, rows: 40 }, needs).trajectory).toBeGreaterThan(10);
    expect(layoutOf({ columns: 60, rows: 20 }, needs)).toMatchObject({
      metrics: 11,
      events: 1,
      trajectory: 0,
      evaluations: 1,
    });
    expect(layoutOf({ columns: 60, rows: 15 }, needs)).toMatchObject({
      metrics: 9,
      events: 0,
      trajectory: 0,
      evaluations: 1,
      headings: false,
    });
  });

  it("gives the last evaluation large letters, and the first curves more rows, on a tall terminal", () => {
    expect(layoutOf({ columns: 120, rows: 60 }, needs)).toMatchObject({
      evaluations: 4,
      tallCurves: 4,
      curveHeight: 3,
    });
    expect(layoutOf({ columns: 120, rows: 60 }, { ...needs, evaluations: 0 }).evaluations).toBe(0);
  });

  it("puts metrics beside each other where height is short or width is plenty", () => {
    expect(layoutOf({ columns: 80, rows: 24 }, needs).metricColumns).toBe(2);
    expect(layoutOf({ columns: 120, rows: 40 }, needs).metricColumns).toBe(1);
    expect(layoutOf({ columns: 200, rows: 50 }, needs).metricColumns).toBe(2);
  });
});
