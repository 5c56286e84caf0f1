import { z } from "../../base/schema.ts";
import {
  amountOf,
  amountShape,
  defineSelector,
  difficultiesOf,
  difficultyShape,
  isOneDifficulty,
  ONE_DIFFICULTY,
  type Selector,
} from "./selector.ts";

/** A baseline for curricula. */
export const shuffled = defineSelector({
  name: "shuffled",
  summary: "Puts the samples in an order drawn by the seed.",
  options: z.strictObject({}),
  select: (samples, _settings, random) => ({ kept: random.shuffle(samples), dropped: [] }),
});

/** A baseline for selections; the kept samples keep their order. */
export const randomSubset = defineSelector({
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

export const easyToHard = orderByDifficulty("easiest", {
  name: "easy-to-hard",
  summary: "Puts samples of easy questions first: a curriculum.",
  source:
    "Tool-Star, arXiv 2505.16410: cold start on what is solved, reinforcement on what is not. Different here: one order over all samples, by pass rate",
});

export const hardToEasy = orderByDifficulty("hardest", {
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
