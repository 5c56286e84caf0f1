import { meanOrZero } from "../../base/statistics.ts";
import { z } from "../../base/schema.ts";
import { scoresOf } from "../scored-group.ts";
import { defineFilter } from "./filter.ts";

const options = z.strictObject({
  /** The combined reward when absent. */
  reward: z.string().optional(),
  low: z.number().default(0.125),
  high: z.number().default(0.875),
});

/** Keeps groups whose mean score lies within a band, both ends included: questions neither too hard nor too easy. */
export const meanBand = defineFilter({
  name: "mean-band",
  summary: "Keeps groups whose mean score lies within a band.",
  source: "SwS, arXiv 2506.08989: .1 to .9 in the paper, .125 to .875 in its code",
  options,
  keep: (groups, { reward = null, low, high }) =>
    groups.filter((group) => {
      const scores = scoresOf(group, reward);
      const centre = meanOrZero(scores);
      return scores.length > 0 && centre >= low && centre <= high;
    }),
});
