import { parseOptions, z } from "../../base/schema.ts";
import { amountOf, amountShape, isOneAmount, ONE_AMOUNT } from "./amount.ts";
import type { Selector } from "./selector.ts";

const options = z.strictObject(amountShape).refine(isOneAmount, ONE_AMOUNT);

/** The baseline of every selection: some of the samples, whichever; those that stay keep their order. */
export const randomSubset: Selector = {
  name: "random-subset",
  summary: "Keeps some of the samples, drawn by the seed.",
  options,
  example: { share: 0.4 },
  select(samples, given, random) {
    const settings = parseOptions(options, given, "random-subset");
    const shuffled = random.shuffle(samples);
    const amount = amountOf(settings, samples.length);
    const chosen = new Set(shuffled.slice(0, amount));
    return {
      kept: samples.filter((sample) => chosen.has(sample)),
      dropped: shuffled.slice(amount).map(({ id }) => ({ id, reason: "not drawn" })),
    };
  },
};
