import { registry } from "../../base/registry.ts";
import { difficultyBand } from "./difficulty-band.ts";
import { easyToHard } from "./easy-to-hard.ts";
import { hardToEasy } from "./hard-to-easy.ts";
import { jointRank } from "./joint-rank.ts";
import { quota } from "./quota.ts";
import { randomSubset } from "./random-subset.ts";
import type { Selector } from "./selector.ts";
import { shuffled } from "./shuffled.ts";

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
