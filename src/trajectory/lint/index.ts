import { registry } from "../../base/registry.ts";
import { parents, prefix } from "./call-rules.ts";
import type { LintRule } from "./lint-rule.ts";
import { hints, names, rewardValues } from "./mark-rules.ts";
import {
  endToken,
  logprobCount,
  logprobGreedy,
  logprobPlace,
  logprobValue,
  owners,
  textOrIds,
  tokenIds,
} from "./token-rules.ts";
import { answer, end, shown, turnOrder, turnText } from "./turn-rules.ts";

/** All rules for trajectories, in the order in which they run. */
export const lintRules = registry<LintRule>("lint rule", [
  names,
  tokenIds,
  textOrIds,
  logprobCount,
  logprobValue,
  logprobPlace,
  logprobGreedy,
  owners,
  endToken,
  parents,
  prefix,
  turnOrder,
  turnText,
  shown,
  answer,
  end,
  hints,
  rewardValues,
]);
