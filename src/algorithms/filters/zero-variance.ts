import { allEqual } from "../../advantages/estimator.ts";
import { z } from "../../base/schema.ts";
import { scoresOf } from "../scored-group.ts";
import { defineFilter } from "./filter.ts";

/**
 * Leaves out groups whose scores are all equal: nothing is learned from them, and without them they leave the loss's denominators.
 *
 * Source of `fill`: DUPO in WebSailor, arXiv 2507.02592, which draws the repeated groups at random. Different here: they take turns.
 */
export const zeroVariance = defineFilter({
  name: "zero-variance",
  summary: "Leaves out groups whose scores are all equal; others may take their places (DUPO).",
  source: "DAPO, arXiv 2503.14476; DUPO, arXiv 2507.02592",
  options: z.strictObject({
    /** The combined reward when absent. */
    reward: z.string().optional(),
    /** Groups that stay are learned from again, in turn, until the batch is as large as before. Nothing new is sampled. */
    fill: z.boolean().default(false),
  }),
  keep(groups, { reward = null, fill }) {
    const kept = groups.filter((group) => !allEqual(scoresOf(group, reward)));
    return fill && kept.length > 0 ? groups.flatMap((_, i) => kept[i % kept.length] ?? []) : kept;
  },
});
