import { z } from "../../base/schema.ts";
import { defineSelector, valuesOf } from "./selector.ts";

/**
 * Keeps the samples whose score is within a band, both limits included.
 *
 * The default is SwS's: two to six of eight draws are right. CoRT takes the hardest solved questions: from and to 0.125. SPEED-RL takes
 * questions that are sometimes right: 0.25 to 0.75 of four draws.
 */
export const difficultyBand = defineSelector({
  name: "difficulty-band",
  summary: "Keeps the samples whose pass rate, or another score, lies within a band.",
  source: "SwS, arXiv 2506.08989, section 2.3; CoRT, arXiv 2506.09820; SPEED-RL, arXiv 2506.09016",
  options: z
    .strictObject({
      /** Name of the score. */
      score: z.string().default("pass-rate"),
      /** Smallest and largest value that stay, both included. */
      from: z.number().default(0.25),
      to: z.number().default(0.75),
    })
    .refine(({ from, to }) => from <= to, "expected from to be at most to"),
  select(samples, { score, from, to }) {
    const { valued, dropped } = valuesOf(samples, { by: score, selector: "difficulty-band" });
    const inside = valued.filter(({ value }) => value >= from && value <= to);
    const low = valued.filter(({ value }) => value < from);
    const high = valued.filter(({ value }) => value > to);
    return {
      kept: inside.map(({ sample }) => sample),
      dropped: [
        ...dropped,
        ...low.map(({ sample: { id } }) => ({ id, reason: "below the band" })),
        ...high.map(({ sample: { id } }) => ({ id, reason: "above the band" })),
      ],
    };
  },
});
