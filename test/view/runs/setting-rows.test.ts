import { describe, expect, it } from "vitest";
import { leavesOf } from "../../../src/base/leaves.ts";
import { type SettingColumn, settingRows } from "../../../src/view/runs/setting-rows.ts";

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

  it("gives a list one row for the entries that only some have, and one for each that differs", () => {
    const many = ["not-a-number", "reward-drop", "zero-variance"];
    const byDefault = many.map((_, i) => `alarms.${i}.smooth`);
    const rows = settingRows([
      column({ alarms: many.map((name) => ({ name, smooth: 5 })) }, byDefault),
      column({
        alarms: [
          { name: "reward-drop", smooth: 2, action: "stop" },
          { name: "truncation", limit: 0.3 },
        ],
      }),
    ]);
    expect(rows).toEqual([
      {
        key: "alarms",
        values: [
          "not-a-number, zero-variance, and 1 that all have",
          "truncation (limit 0.3), and 1 that all have",
        ],
      },
      { key: "alarms.reward-drop", values: ["smooth 5, action not set", "smooth 2, action stop"] },
    ]);
  });

  it("tells a list that is empty from one that is not there", () => {
    const rows = settingRows([
      column({ reporters: [], seed: 1 }),
      column({ reporters: [{ name: "tensorboard" }], seed: 1 }),
      column({ seed: 1 }),
    ]);
    expect(rows).toEqual([{ key: "reporters", values: ["none", "tensorboard", undefined] }]);
  });

  it("calls entries without a name by their place, and says what stands alone in whole", () => {
    const budget = { scope: "turn", unit: "tokens" };
    const [turns, tokens] = [
      { ...budget, limit: 4 },
      { ...budget, limit: 48 },
    ];
    expect(
      settingRows([
        column({ budgets: [turns, tokens] }),
        column({ budgets: [{ ...turns, limit: 5 }] }),
      ]),
    ).toEqual([
      {
        key: "budgets",
        values: ["(scope turn, unit tokens, limit 48), and 1 that all have", "1 that all have"],
      },
      { key: "budgets.0", values: ["limit 4", "limit 5"] },
    ]);
  });

  it("keeps entries of one name apart, and sees that a list's order is another", () => {
    const twice = (limit: number): object => ({
      alarms: [
        { name: "truncation", limit: 0.3 },
        { name: "truncation", limit },
      ],
    });
    expect(settingRows([column(twice(0.8)), column(twice(0.9))])).toEqual([
      { key: "alarms.truncation (2)", values: ["limit 0.8", "limit 0.9"] },
    ]);
    expect(settingRows([column({ to: ["q", "v"] }), column({ to: ["v", "q"] })])).toEqual([
      { key: "to", values: ["q, v", "v, q"] },
    ]);
  });

  it("makes one row of what a run has nothing of, with what differs among those that have it", () => {
    const sft = (epochs: number): SettingColumn =>
      column({ seed: 1, sft: { epochs, weighted: true, batch: { size: 2 } } }, ["sft.weighted"]);
    expect(settingRows([sft(1), sft(2), column({ seed: 1, algorithm: { name: "grpo" } })])).toEqual(
      [
        { key: "sft", values: ["epochs 1, batch.size 2", "epochs 2, batch.size 2", undefined] },
        { key: "sft.epochs", values: ["1", "2", undefined] },
        { key: "algorithm.name", values: [undefined, undefined, "grpo"] },
      ],
    );
    const during = column({
      evaluation: { samplesPerTask: 1, during: { every: 4, questions: 8 } },
    });
    const [row] = settingRows([during, column({ evaluation: { samplesPerTask: 1 } })]);
    expect(row).toEqual({ key: "evaluation.during", values: ["every 4, questions 8", undefined] });
  });
});
