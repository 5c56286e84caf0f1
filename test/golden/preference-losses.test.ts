import { describe, expect, it } from "vitest";
import { preferenceLosses } from "../../src/losses/preference/index.ts";
import golden from "./preference-losses.json" with { type: "json" };

// preference-losses.json: made by preference-losses.py with the versions that it names. ORPO's odds are float32 there.
describe.each(golden.losses)("$name $options in TRL", ({ name, options, results }) => {
  it.each(results.map((result, i) => ({ i, result })))(
    "has our loss and derivatives of case $i",
    ({ i, result }) => {
      const part = preferenceLosses.get(name, "golden");
      const { loss, gradients } = part.pairLoss(golden.cases[i]!, part.options.parse(options));
      const digits = name === "orpo" ? 6 : 12;
      expect(loss).toBeCloseTo(result.loss, digits);
      expect(gradients.chosen).toBeCloseTo(result.chosen, digits);
      expect(gradients.rejected).toBeCloseTo(result.rejected, digits);
    },
  );
});
