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
 * Keeps the samples whose joint rank w · rank by difficulty + (1 − w) · rank by length is best, by default 10 %. Rank 1 is the hardest and
 * the longest; equal values share the mean of their ranks; the seed breaks ties of the joint rank. With weight 0 no difficulty is needed.
 * The kept samples keep their order.
 *
 * Different here: length is the number of characters that the policy wrote (paper: tokens, code: characters).
 */
export const jointRank = defineSelector({
  name: "joint-rank",
  summary: "Keeps the samples that are best by a joint rank of difficulty and length.",
  source:
    "Select2Reason, arXiv 2505.17266; its code has no joint ranker; the paper calls w = 0 the longest, so w is the difficulty's share",
  options: z
    .strictObject({
      /** Weight of the difficulty in the joint rank (paper: w); the length has the rest. 0: the longest, 1: the hardest. */
      weight: z.number().min(0).max(1).default(0.25),
      ...difficultyShape,
      /** Score to use as length; absent: characters. */
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
