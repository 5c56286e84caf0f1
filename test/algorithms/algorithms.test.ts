import { describe, expect, it } from "vitest";
import { algorithms } from "../../src/algorithms/index.ts";
import "../helpers/all-parts.ts";

describe.each(algorithms.parts.map((part) => ({ name: part.name, part })))(
  "algorithm $name",
  ({ part }) => {
    it("passes what a recipe sets of the clipped loss on to it", () => {
      const set = {
        clipLow: 0.1,
        clipHigh: 0.3,
        dualClip: 3,
        importanceSamplingCap: 2,
        klCoef: 0.5,
        klEstimator: "k2",
        entropyCoef: 0.25,
      };
      const [loss] = part.losses(part.options.parse(set));
      expect(loss).toMatchObject({ name: "policy-gradient", options: set });
    });
  },
);
