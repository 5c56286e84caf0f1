import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expectClose } from "../helpers/expect-close.ts";
import { runLoss } from "../helpers/run-loss.ts";

interface Known {
  clip: number;
  values: number[];
  oldValues: number[];
  returns: number[];
  loss: number;
  gradient: number[];
  clipFraction: number;
}

const { valueLosses } = JSON.parse(
  readFileSync(new URL("../golden/ppo.json", import.meta.url), "utf8"),
) as { valueLosses: Known[] };

describe("value loss", () => {
  it.each(valueLosses)("equals verl's with clip $clip", async (known) => {
    const { clip, values, oldValues, returns } = known;
    const fields = { weights: values.map(() => 1 / values.length), oldValues, returns };
    const { loss, gradient, metrics } = await runLoss("value", { clip }, values, fields);
    expect(loss).toBeCloseTo(known.loss, 6);
    expectClose(gradient, known.gradient, { atol: 1e-6 });
    expect(metrics["losses/value_clip_fraction"]).toBeCloseTo(known.clipFraction, 6);
  });

  it("counts the larger of both errors", async () => {
    // V 1, R 2, V_old 0, clip .5: max(1, 2.25) / 2.
    const fields = { weights: [1], oldValues: [0], returns: [2] };
    expect((await runLoss("value", { clip: 0.5 }, [1], fields)).loss).toBeCloseTo(1.125, 6);
    expect((await runLoss("value", { clip: null }, [1], fields)).loss).toBeCloseTo(0.5, 6);
    expect((await runLoss("value", { clip: null, coef: 0.5 }, [1], fields)).loss).toBeCloseTo(
      0.25,
      6,
    );
  });
});
