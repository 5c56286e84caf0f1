import { registry } from "../base/registry.ts";
import { anchorState } from "./anchor-state.ts";
import type { AdvantageEstimator } from "./estimator.ts";
import { gae } from "./gae.ts";
import { groupAdvantage } from "./group.ts";
import { leaveOneOut } from "./leave-one-out.ts";
import { pooledTurns } from "./pooled-turns.ts";
import { reinforcePp } from "./reinforce-pp.ts";
import { remax } from "./remax.ts";
import { returnAdvantage } from "./return.ts";
import { signFlip } from "./sign-flip.ts";
import { treeSibling } from "./tree-sibling.ts";
import { turnSplit } from "./turn-split.ts";

/** All advantage estimators. */
export const advantageEstimators = registry<AdvantageEstimator>("advantage estimator", [
  anchorState,
  gae,
  groupAdvantage,
  leaveOneOut,
  pooledTurns,
  returnAdvantage,
  reinforcePp,
  remax,
  signFlip,
  treeSibling,
  turnSplit,
]);
