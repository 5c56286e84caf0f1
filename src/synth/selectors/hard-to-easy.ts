import { orderByDifficulty, orderOptions } from "./order-by-difficulty.ts";
import type { Selector } from "./selector.ts";

/** What a curriculum is compared with: its reverse. */
export const hardToEasy: Selector = {
  name: "hard-to-easy",
  summary: "Puts samples of hard questions first.",
  options: orderOptions,
  select: (samples, options, random) =>
    orderByDifficulty(samples, options, { selector: "hard-to-easy", first: "hardest", random }),
};
