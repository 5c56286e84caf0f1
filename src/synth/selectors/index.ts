import { groupedBy } from "../../base/grouped-by.ts";
import { registry } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";
import {
  ONE_DIFFICULTY,
  type SampleFacts,
  type Selector,
  amountOf,
  amountShape,
  defineSelector,
  difficultiesOf,
  difficultyShape,
  isOneDifficulty,
  placesFromLargest,
  valuesOf,
} from "./selector.ts";

/** A baseline for curricula. */
const shuffled = defineSelector({
  name: "shuffled",
  summary: "Puts the samples in an order drawn by the seed.",
  options: z.strictObject({}),
  select: (samples, _settings, random) => ({ kept: random.shuffle(samples), dropped: [] }),
});

/** A baseline for selections; the kept samples keep their order. */
const randomSubset = defineSelector({
  name: "random-subset",
  summary: "Keeps some of the samples, drawn by the seed.",
  options: z
    .strictObject(amountShape)
    .refine(
      ({ count, share }) => (count === undefined) !== (share === undefined),
      "expected either count or share",
    ),
  example: { share: 0.4 },
  select(samples, settings, random) {
    const drawn = random.shuffle(samples);
    const amount = amountOf(settings, samples.length);
    const chosen = new Set(drawn.slice(0, amount));
    return {
      kept: samples.filter((sample) => chosen.has(sample)),
      dropped: drawn.slice(amount).map(({ id }) => ({ id, reason: "not drawn" })),
    };
  },
});

const easyToHard = orderByDifficulty("easiest", {
  name: "easy-to-hard",
  summary: "Puts samples of easy questions first: a curriculum.",
  source:
    "Tool-Star, arXiv 2505.16410: cold start on what is solved, reinforcement on what is not. Different here: one order over all samples, by pass rate",
});

const hardToEasy = orderByDifficulty("hardest", {
  name: "hard-to-easy",
  summary: "Puts samples of hard questions first.",
});

/** Orders by pass rate by default; the seed breaks ties, samples without a difficulty are dropped. */
function orderByDifficulty(
  first: "easiest" | "hardest",
  part: Pick<Selector, "name" | "summary" | "source">,
): Selector {
  return defineSelector({
    ...part,
    options: z.strictObject(difficultyShape).refine(isOneDifficulty, ONE_DIFFICULTY),
    select(samples, settings, random) {
      const usual = { easiness: "pass-rate" };
      const { valued, dropped } = difficultiesOf(samples, settings, { selector: part.name, usual });
      const sign = first === "easiest" ? 1 : -1;
      const ordered = random.shuffle(valued).sort((a, b) => sign * (a.value - b.value));
      return { kept: ordered.map(({ sample }) => sample), dropped };
    },
  });
}

/**
 * Keeps, in order, the samples whose joint rank w · rank by difficulty + (1 − w) · rank by length is best, by default 10 %. Rank 1 is the
 * hardest and longest; equal values share the mean rank; the seed breaks ties. With weight 0 no difficulty is needed.
 * Different here: length is the number of characters that the policy wrote (paper: tokens, code: characters).
 */
const jointRank = defineSelector({
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

/** Balances samples over kinds of question. The seed chooses the samples of each cell; the kept samples keep their order. */
const quota = defineSelector({
  name: "quota",
  summary:
    "Keeps at most a number of samples of each type and number of hops, or given shares of them.",
  options: z
    .strictObject({
      /** Keys of a cell; its name is their values in this order, joined by "/", with "none" for an absent value. */
      by: z
        .array(z.enum(["type", "hops", "draw"]))
        .min(1)
        .default(["type", "hops"]),
      /** Most samples of each cell. */
      most: z.int().min(1).optional(),
      /**
       * Alternative: the shares of cells by name (`bridge/2: 0.5`), of any sum. As many samples are kept as the cells allow; unnamed cells
       * are dropped, and a named cell without samples is ignored.
       */
      shares: z.record(z.string(), z.number().min(0)).optional(),
    })
    .refine(
      ({ most, shares }) => (most === undefined) !== (shares === undefined),
      "expected either most or shares",
    ),
  example: { most: 7 },
  select(samples, { by, most, shares }, random) {
    const cellOf = (sample: SampleFacts): string =>
      by.map((key) => sample[key] ?? "none").join("/");
    const cells = groupedBy(samples, cellOf);
    const sizes = new Map([...cells].map(([cell, { length }]) => [cell, length]));
    const limits = shares === undefined ? null : limitsOf(sizes, shares);
    const chosen = new Set(
      [...cells].flatMap(([cell, members]) => {
        const limit = limits === null ? (most ?? 0) : (limits.get(cell) ?? 0);
        return random.derive(cell).shuffle(members).slice(0, limit);
      }),
    );
    return {
      kept: samples.filter((sample) => chosen.has(sample)),
      dropped: samples
        .filter((sample) => !chosen.has(sample))
        .map(({ id }) => ({ id, reason: "over the quota" })),
    };
  },
});

/** Largest number of samples of each cell that fits the shares. @example limitsOf(new Map([["a", 10], ["b", 3]]), { a: 1, b: 1 }) // 3, 3 */
function limitsOf(
  sizes: ReadonlyMap<string, number>,
  shares: Readonly<Record<string, number>>,
): Map<string, number> {
  const wanted = [...sizes].flatMap(([cell, size]) => {
    const share = shares[cell] ?? 0;
    return share > 0 ? [{ cell, size, share }] : [];
  });
  // Samples for a share of 1: as many as the scarcest cell allows.
  const scale = Math.min(...wanted.map(({ size, share }) => size / share));
  // A rounding error may make a product slightly smaller than a whole number.
  return new Map(wanted.map(({ cell, share }) => [cell, Math.floor(share * scale + 1e-9)]));
}

/**
 * Keeps the samples whose score is within a band, limits included. The default is SwS's: two to six of eight draws are right. CoRT takes the
 * hardest solved questions (from and to 0.125); SPEED-RL those sometimes right: 0.25 to 0.75 of four draws.
 */
const difficultyBand = defineSelector({
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

/** All ways to choose among a synthesis's samples, or to order them. */
export const sampleSelectors = registry<Selector>("sample selector", [
  difficultyBand,
  jointRank,
  quota,
  randomSubset,
  easyToHard,
  hardToEasy,
  shuffled,
]);
