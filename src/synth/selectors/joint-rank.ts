import { z } from "../../base/schema.ts";
import {
  amountOf,
  amountShape,
  defineSelector,
  difficultiesOf,
  difficultyShape,
  isOneDifficulty,
  ONE_DIFFICULTY,
  placesFromLargest,
  valuesOf,
} from "./selector.ts";

/**
 * Keeps the samples whose joint rank w · rank by difficulty + (1 − w) · rank by length is best, 10 % where nothing else is said; rank
 * 1 is the hardest and the longest, equal values share the mean of their ranks, equal joint ranks are decided by the seed. With
 * weight 0 the difficulty need not be known. Those that stay keep their order.
 *
 * Different here: length is counted in characters of what the policy wrote (paper: tokens, code: characters).
 */
export const jointRank = defineSelector({
  name: "joint-rank",
  summary: "Keeps the samples that are best by a joint rank of difficulty and length.",
  source:
    "Select2Reason, arXiv 2505.17266; its code has no joint ranker: that w is the difficulty's share follows from w = 0 being called the longest",
  options: z
    .strictObject({
      /** Share of the difficulty in the joint rank (paper: w); the rest is the length's. 0: the longest, 1: the hardest. */
      weight: z.number().min(0).max(1).default(0.25),
      ...difficultyShape,
      /** What is counted as length. */
      length: z.string().default("length"),
      ...amountShape,
    })
    .refine(isOneDifficulty, ONE_DIFFICULTY)
    .refine(
      ({ count, share }) => count === undefined || share === undefined,
      "expected either count or share",
    ),
  select(samples, settings, random) {
    const { weight, length } = settings;
    const hard =
      weight === 0
        ? { valued: samples.map((sample) => ({ sample, value: 0 })), dropped: [] }
        : difficultiesOf(samples, settings, {
            selector: "joint-rank",
            usual: { difficulty: "difficulty" },
          });
    const known = hard.valued.map(({ sample }) => sample);
    const long = valuesOf(known, { by: length, selector: "joint-rank" });
    const measured = new Set(long.valued.map(({ sample }) => sample));
    const both = hard.valued.filter(({ sample }) => measured.has(sample));
    const byDifficulty = placesFromLargest(both.map(({ value }) => value));
    const byLength = placesFromLargest(long.valued.map(({ value }) => value));
    const ranked = both.map(({ sample }, i) => ({
      sample,
      rank: weight * (byDifficulty[i] ?? 0) + (1 - weight) * (byLength[i] ?? 0),
    }));
    const amount = amountOf(
      settings.count === undefined ? { share: settings.share ?? 0.1 } : settings,
      ranked.length,
    );
    const best = random.shuffle(ranked).sort((a, b) => a.rank - b.rank);
    const chosen = new Set(best.slice(0, amount).map(({ sample }) => sample));
    return {
      kept: known.filter((sample) => chosen.has(sample)),
      dropped: [
        ...hard.dropped,
        ...long.dropped,
        ...best.slice(amount).map(({ sample: { id } }) => ({ id, reason: "ranked below" })),
      ],
    };
  },
});
