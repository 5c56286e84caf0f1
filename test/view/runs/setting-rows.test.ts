import { describe, expect, it } from "vitest";
import { leavesOf } from "../../../src/base/leaves.ts";
import { type SettingColumn, settingRows } from "../../../src/view/runs/arms.ts";

/** Settings as a run's folder gives them; named keys are by default. */
function column(settings: object, defaults: readonly string[] = []): SettingColumn {
  const values = new Map([...leavesOf(settings)].map(([keys, value]) => [keys.join("."), value]));
  return { values, origins: new Map(defaults.map((key) => [key, "default"])) };
}

describe("settingRows", () => {
  it("gives the settings that differ, and no others", () => {
    const rows = settingRows([
      column({ a: { b: 1, c: "x" }, d: null }),
      column({ a: { b: 2, c: "x" }, d: null }),
    ]);
    expect(rows).toEqual([{ key: "a.b", values: ["1", "2"] }]);
  });

  it("gives a list's entries by name, and a row for the list where only some have an entry", () => {
    const many = ["not-a-number", "reward-drop"];
    const byDefault = many.map((_, i) => `alarms.${i}.smooth`);
    const rows = settingRows([
      column({ alarms: many.map((name) => ({ name, smooth: 5 })) }, byDefault),
      column({ alarms: [{ name: "reward-drop", smooth: 2, action: "stop" }] }),
    ]);
    expect(rows).toEqual([
      { key: "alarms.reward-drop.smooth", values: ["5", "2"] },
      { key: "alarms", values: ["not-a-number, reward-drop", "reward-drop"] },
      { key: "alarms.reward-drop.action", values: [undefined, "stop"] },
    ]);
  });

  it("calls entries without a name by their place, and keeps entries of one name apart", () => {
    const twice = (limit: number): object => ({
      alarms: [
        { name: "truncation", limit: 0.3 },
        { name: "truncation", limit },
      ],
      budgets: [{ scope: "turn", limit }],
    });
    expect(settingRows([column(twice(0.8)), column(twice(0.9))])).toEqual([
      { key: "alarms.truncation (2).limit", values: ["0.8", "0.9"] },
      { key: "budgets.0.limit", values: ["0.8", "0.9"] },
    ]);
  });

  it("sees that a list of values has another order", () => {
    expect(settingRows([column({ to: ["q", "v"] }), column({ to: ["v", "q"] })])).toEqual([
      { key: "to", values: ["q, v", "v, q"] },
    ]);
  });

  it("gives of a block that a run lacks what others set, not their defaults", () => {
    const sft = column({ seed: 1, sft: { epochs: 2, weighted: true } }, ["sft.weighted"]);
    expect(settingRows([sft, column({ seed: 1 })])).toEqual([
      { key: "sft.epochs", values: ["2", undefined] },
    ]);
  });
});
