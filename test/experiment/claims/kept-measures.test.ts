import { describe, expect, it } from "vitest";
import {
  type MeasuredRun,
  type MeasuresByRun,
  packMeasures,
  unpackMeasures,
} from "../../../src/experiment/claims/kept-measures.ts";

const measured = (key: string, seed: number, ids: string[] | null): MeasuredRun => ({
  ...{ key, seed, value: 0.625, draws: 4, isBound: false, dataset: "d", model: "m" },
  questions:
    ids === null
      ? null
      : { values: new Map(ids.map((id, i) => [id, i / 4])), outcome: `answers of ${key}` },
});

describe("measures as JSON", () => {
  it("come back as they were, lists of questions stored once", () => {
    const runs: MeasuresByRun = new Map<string, Record<string, MeasuredRun>>([
      ["one", { em: measured("one", 1, ["a", "b", "c"]), f1: measured("one", 1, ["a"]) }],
      ["two", { em: measured("two", 2, ["a", "b", "c"]), steps: measured("two", 2, null) }],
    ]);
    const packed = packMeasures(runs);
    const read = JSON.parse(JSON.stringify(packed)) as typeof packed;
    expect(unpackMeasures(read, (key) => (key === "one" ? 1 : 2))).toEqual(runs);
    const text = Buffer.from(packed.questions, "base64");
    expect(text.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  });
});
