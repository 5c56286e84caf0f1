import { registry } from "../../base/registry.ts";
import type { Alarm } from "./alarm.ts";
import { duplicateQueries } from "./duplicate-queries.ts";
import { entropyCollapse } from "./entropy-collapse.ts";
import { entropyExplosion } from "./entropy-explosion.ts";
import { gradientNorm } from "./gradient-norm.ts";
import { klExplosion } from "./kl-explosion.ts";
import { lengthCollapse } from "./length-collapse.ts";
import { lengthExplosion } from "./length-explosion.ts";
import { mismatchKl } from "./mismatch-kl.ts";
import { notANumber } from "./not-a-number.ts";
import { rewardDrop } from "./reward-drop.ts";
import { rewardVariance } from "./reward-variance.ts";
import { searchCollapse } from "./search-collapse.ts";
import { truncation } from "./truncation.ts";
import { zeroVariance } from "./zero-variance.ts";

/** All rules on a run's metrics. */
export const alarms = registry<Alarm>("alarm", [
  notANumber,
  rewardDrop,
  rewardVariance,
  zeroVariance,
  truncation,
  searchCollapse,
  duplicateQueries,
  lengthCollapse,
  lengthExplosion,
  entropyCollapse,
  entropyExplosion,
  klExplosion,
  gradientNorm,
  mismatchKl,
]);
