import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tokenWeights } from "../../src/algorithms/loss-aggregation.ts";
import { rowOffsets } from "../../src/algorithms/training-rows.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { runLoss, type LossRun } from "../helpers/run-loss.ts";

interface Rows {
  oldLogprobs: number[][];
  logprobs: number[][];
  advantages: number[][];
}

interface Golden extends Rows {
  options: { clipLow: number; clipHigh: number };
  loss: number;
  gradient: number[][];
}

const file = join(import.meta.dirname, "../golden/gspo.json");
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Golden[] };

/** The rows as a micro-batch: one after another, and then padding. */
function run(options: object, { oldLogprobs, logprobs, advantages }: Rows): Promise<LossRun> {
  const lengths = logprobs.map(({ length }) => length);
  const each = tokenWeights("sequence-mean", lengths, 0);
  const padded = (rows: number[][]): number[] => [...rows.flat(), 0, 0];
  return runLoss("gspo", { ...options }, [...logprobs.flat(), -7, -9], {
    weights: padded(lengths.map((length, i) => Array<number>(length).fill(each[i]!))),
    advantages: padded(advantages),
    oldLogprobs: padded(oldLogprobs),
    rowOffsets: padded(logprobs.map((row) => rowOffsets(row.map(() => 1)))),
  });
}

describe("GSPO", () => {
  it("gives every token of a row the row's ratio", async () => {
    // Row 1: log ratios .3 and .1, mean .2, ρ = 1.2214, above the bound: no gradient. Row 2: −.1, ρ = .9048, inside.
    const oldLogprobs = [[-1, -2], [-0.5]];
    const logprobs = [[-0.7, -1.9], [-0.6]];
    const rows = { oldLogprobs, logprobs, advantages: [[1, 1], [1]] };
    const { loss, gradient, metrics } = await run({ clipLow: 0.2, clipHigh: 0.2 }, rows);
    expect(loss).toBeCloseTo(-(1.2 + Math.exp(-0.1)) / 2, 5);
    expectClose(gradient, [0, 0, -Math.exp(-0.1) / 2, 0, 0]);
    expect(metrics["losses/clip_fraction"]).toBeCloseTo(0.5, 6);
  });

  it.each(cases)("equals verl's with $options", async (golden) => {
    const { loss, gradient } = await run(golden.options, golden);
    expect(loss).toBeCloseTo(golden.loss, 5);
    expectClose(gradient, [...golden.gradient.flat(), 0, 0]);
  });
});
