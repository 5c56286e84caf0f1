import { describe, expect, it } from "vitest";
import { scheduled, valueAt } from "../../src/base/schedule.ts";
import { parseOptions, z } from "../../src/base/schema.ts";
import golden from "../golden/schedules.json" with { type: "json" };
import { naming } from "../helpers/naming.ts";

/** Values at every step of a run, from the recipe's spelling. */
function curve(setting: unknown, totalSteps: number): number[] {
  const parsed = parseOptions(scheduled(z.number()), setting, "lr");
  return Array.from({ length: totalSteps }, (_, step) => valueAt(parsed, step, totalSteps));
}

describe("valueAt", () => {
  it("leaves a plain number alone", () => {
    expect(curve(0.5, 3)).toEqual([0.5, 0.5, 0.5]);
  });

  it("moves evenly from the first step to the last", () => {
    expect(curve({ schedule: "linear", from: 1, to: 0 }, 5)).toEqual([1, 0.75, 0.5, 0.25, 0]);
  });

  it("holds the ends outside start and end, in steps or fractions of the run", () => {
    const steps = { schedule: "linear", from: 0, to: 4, start: 1, end: 3, unit: "steps" };
    expect(curve(steps, 6)).toEqual([0, 0, 2, 4, 4, 4]);
    const fractions = { schedule: "linear", from: 0, to: 4, start: 0.25, end: 0.75 };
    expect(curve(fractions, 5)).toEqual([0, 0, 2, 4, 4]);
  });

  it("follows half a cosine", () => {
    // (1 − cos(π/4)) / 2 = 0.146447 of the way after a quarter.
    const values = curve({ schedule: "cosine", from: 1, to: 0 }, 5);
    [1, 0.853553, 0.5, 0.146447, 0].forEach((expected, step) => {
      expect(values[step]).toBeCloseTo(expected, 6);
    });
  });

  it("rises as (4^t − 1) / 3 on the exponential schedule", () => {
    // 4^0.5 = 2, so a third of the way at half time.
    expect(curve({ schedule: "exponential", from: 0, to: 0.6 }, 3)).toEqual([
      0,
      expect.closeTo(0.2, 12) as number,
      0.6,
    ]);
  });

  it("keeps the last value reached", () => {
    const values = [
      { at: 0, value: 4 },
      { at: 2, value: 8 },
    ];
    expect(curve({ schedule: "steps", values, unit: "steps" }, 4)).toEqual([4, 4, 8, 8]);
    const halves = [
      { at: 0, value: 1 },
      { at: 0.5, value: 2 },
    ];
    expect(curve({ schedule: "steps", values: halves }, 5)).toEqual([1, 1, 2, 2, 2]);
  });

  it("warms up from the first step on without a step of 0", () => {
    const warm = { schedule: "constant", value: 4, warmup: 4, unit: "steps" };
    expect(curve(warm, 6)).toEqual([1, 2, 3, 4, 4, 4]);
    expect(curve({ schedule: "constant", value: 3, warmup: 0.5 }, 5)).toEqual([1.5, 3, 3, 3, 3]);
  });

  it.each(golden.cases)(
    "is transformers' $name, one step ahead: $warmup steps of warm-up, $total in all",
    ({ name, warmup, total, to, rates }) => {
      const kinds = { linear: "linear", constant_with_warmup: "constant" } as const;
      const schedule = name in kinds ? kinds[name as keyof typeof kinds] : "cosine";
      const value = schedule === "constant" ? { value: to } : { from: golden.peak, to };
      const found = curve({ schedule, ...value, warmup, unit: "steps" }, total);
      found.forEach((rate, step) => {
        expect(Math.abs(rate - rates[step + 1]!)).toBeLessThan(golden.tolerance);
      });
    },
  );

  it("decays from the warm-up's end where fractions of the run are given, too", () => {
    const values = curve({ schedule: "linear", from: 1, to: 0, warmup: 0.5 }, 9);
    expect(values).toEqual([0.25, 0.5, 0.75, 1, 0.8, 0.6, 0.4, 0.2, 0].map((x) => expect.closeTo(x, 12) as number)); // prettier-ignore
  });

  it("holds the first value from the warm-up's end to a later start", () => {
    const late = { schedule: "linear", from: 4, to: 0, start: 4, warmup: 2, unit: "steps" };
    expect(curve(late, 7)).toEqual([2, 4, 4, 4, 4, 2, 0]);
  });

  it("gives the first value in a run of one step", () => {
    expect(curve({ schedule: "linear", from: 1, to: 0 }, 1)).toEqual([1]);
    expect(curve({ schedule: "cosine", from: 1, to: 0 }, 1)).toEqual([1]);
  });
});

describe("scheduled", () => {
  const schema = scheduled(z.number().min(0));
  const parse = (value: unknown) => () => parseOptions(schema, value, "klCoef");

  it("lists the known schedules for an unknown one", () => {
    expect(parse({ schedule: "linaer", from: 1, to: 0 })).toThrow(
      naming(
        "klCoef.schedule",
        '"linaer"',
        '"constant"',
        '"linear"',
        '"cosine"',
        '"exponential"',
        '"steps"',
      ),
    );
  });

  it("holds each number of the schedule to the option's own range", () => {
    expect(parse({ schedule: "linear", from: 1, to: -1 })).toThrow(naming("klCoef.to", "-1"));
    expect(parse(-1)).toThrow(naming("klCoef", "-1"));
  });

  it("reports a key that the schedule does not have", () => {
    expect(parse({ schedule: "linear", from: 1, too: 0 })).toThrow(
      naming("klCoef.too", 'Did you mean "to"'),
    );
  });

  it("demands rising steps from 0", () => {
    const values = [{ at: 3, value: 1 }];
    expect(parse({ schedule: "steps", values })).toThrow(
      naming("klCoef.values", '{"at":3,"value":1}', "0"),
    );
  });
});
