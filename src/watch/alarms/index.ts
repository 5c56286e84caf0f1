import { registry } from "../../base/registry.ts";
import type { Alarm } from "./alarm.ts";
import * as optimizer from "./optimizer-alarms.ts";
import * as reward from "./reward-alarms.ts";
import * as rollout from "./rollout-alarms.ts";

/** All rules on a run's metrics. */
export const alarms = registry<Alarm>("alarm", [
  optimizer.notANumber,
  reward.rewardDrop,
  reward.rewardGap,
  reward.rewardVariance,
  reward.zeroVariance,
  rollout.truncation,
  rollout.searchCollapse,
  rollout.duplicateQueries,
  rollout.lengthCollapse,
  rollout.lengthExplosion,
  optimizer.entropyCollapse,
  optimizer.entropyExplosion,
  optimizer.klExplosion,
  optimizer.gradientNorm,
  optimizer.mismatchKl,
]);
