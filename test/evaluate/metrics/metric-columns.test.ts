import { describe, expect, it } from "vitest";
import { shownMetrics, shownValue } from "../../../src/evaluate/metrics/metric-columns.ts";
import { rewards } from "../../../src/rewards/index.ts";

describe("shownValue", () => {
  it("hides 0 searches of the policy where its strategy searches", () => {
    expect(shownValue({ searches: 0, strategy_searches: 1 }, "searches")).toBeNull();
    expect(shownValue({ searches: 2, strategy_searches: 1 }, "searches")).toBe(2);
    expect(shownValue({ searches: 0 }, "searches")).toBe(0);
    expect(shownValue({ em: 0, strategy_searches: 1 }, "em")).toBe(0);
  });
});

describe("shownMetrics", () => {
  it("leaves out the rewards that are a headline metric by another name, and no others", async () => {
    for (const { name, metric } of await rewards.all())
      expect(shownMetrics({ [name]: 1 }), name).toEqual(metric === undefined ? [name] : []);
  });
});
