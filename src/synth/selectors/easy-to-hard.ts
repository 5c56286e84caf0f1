import { orderByDifficulty, orderOptions } from "./order-by-difficulty.ts";
import type { Selector } from "./selector.ts";

export const easyToHard: Selector = {
  name: "easy-to-hard",
  summary: "Puts samples of easy questions first: a curriculum.",
  source:
    "Tool-Star, arXiv 2505.16410: cold start on what is solved, reinforcement on what is not. Different here: one order over all samples, by pass rate",
  options: orderOptions,
  select: (samples, options, random) =>
    orderByDifficulty(samples, options, { selector: "easy-to-hard", first: "easiest", random }),
};
