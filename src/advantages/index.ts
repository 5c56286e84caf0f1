import { registry } from "../base/registry.ts";
import type { AdvantageEstimator } from "./estimator.ts";
import { groupAdvantage } from "./group.ts";
import { leaveOneOut } from "./leave-one-out.ts";
import { reinforcePp } from "./reinforce-pp.ts";
import { returnAdvantage } from "./return.ts";
import { treeSibling } from "./tree-sibling.ts";

/** All advantage estimators. */
export const advantageEstimators = registry<AdvantageEstimator>("advantage estimator", [
  groupAdvantage,
  leaveOneOut,
  returnAdvantage,
  reinforcePp,
  treeSibling,
]);
