import { expect, it } from "vitest";
import { intervalsOf, meanInterval } from "../../src/evaluate/intervals.ts";
import { wilsonInterval } from "../../src/evaluate/statistics.ts";

it("gives questions that are all wrong, or all right, an interval with width", () => {
  const method = "bootstrap" as const;
  const found = intervalsOf(
    [
      { name: "f1", values: [0, 0, 0, 0], method },
      { name: "avg@4", values: [1, 1, 1], method },
      { name: "mixed", values: [0, 0.5, 1], method },
    ],
    { seed: 1 },
  );
  expect(found.intervals["f1"]).toEqual(wilsonInterval(0, 4));
  expect(found.intervals["avg@4"]).toEqual(wilsonInterval(3, 3));
  expect(found.intervalMethods).toEqual({ f1: "wilson", "avg@4": "wilson", mixed: "bootstrap" });
});

it("gives one question between 0 and 1 no interval", () => {
  expect(meanInterval({ values: [0.4], method: "bootstrap" }, { seed: 1 })).toBeNull();
  expect(meanInterval({ values: [0], method: "bootstrap" }, { seed: 1 })).toEqual(
    wilsonInterval(0, 1),
  );
});
