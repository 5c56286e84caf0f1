import { sampleDeviation } from "../../advantages/estimator.ts";
import { z } from "../../base/schema.ts";
import { scoresOf } from "../scored-group.ts";
import { defineFilter } from "./filter.ts";

const options = z.strictObject({
  /** The combined reward when absent. */
  reward: z.string().optional(),
  /** Of the groups, rounded up. */
  share: z.number().gt(0).max(1).default(0.25),
});

/**
 * Keeps the groups whose scores differ most. Of equal deviations the earlier group stays.
 *
 * Source: RAGEN's StarPO-S, arXiv 2504.20073: the most uncertain quarter.
 */
export const topDeviation = defineFilter({
  name: "top-deviation",
  summary: "Keeps the share of groups whose scores differ most (StarPO-S).",
  source: "RAGEN, arXiv 2504.20073, StarPO-S",
  options,
  keep(groups, { reward = null, share }) {
    const spread = new Map(groups.map((each) => [each, sampleDeviation(scoresOf(each, reward))]));
    const ranked = [...groups].sort((a, b) => (spread.get(b) ?? 0) - (spread.get(a) ?? 0));
    const kept = new Set(ranked.slice(0, Math.ceil(share * groups.length)));
    return groups.filter((group) => kept.has(group));
  },
});
