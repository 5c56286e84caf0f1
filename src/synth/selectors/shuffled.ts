import { z } from "../../base/schema.ts";
import type { Selector } from "./selector.ts";

/** The order that curricula are compared with. */
export const shuffled: Selector = {
  name: "shuffled",
  summary: "Puts the samples in an order drawn by the seed.",
  options: z.strictObject({}),
  select: (samples, _options, random) => ({ kept: random.shuffle(samples), dropped: [] }),
};
