import { allEqual } from "../../advantages/estimator.ts";
import { z } from "../../base/schema.ts";
import { scoresOf } from "../scored-group.ts";
import { defineFilter } from "./filter.ts";

/** Leaves out groups whose scores are all equal: nothing is learned from them, and without them they leave the loss's denominators. */
export const zeroVariance = defineFilter({
  name: "zero-variance",
  summary: "Leaves out groups whose scores are all equal.",
  options: z.strictObject({
    /** The combined reward when absent. */
    reward: z.string().optional(),
  }),
  keep: (groups, { reward = null }) => groups.filter((group) => !allEqual(scoresOf(group, reward))),
});
