import { registry } from "../../base/registry.ts";
import { difficultyBand } from "./difficulty-band.ts";
import { jointRank } from "./joint-rank.ts";
import { easyToHard, hardToEasy, randomSubset, shuffled } from "./orders.ts";
import { quota } from "./quota.ts";
import type { Selector } from "./selector.ts";

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
