import { registry } from "../base/registry.ts";
import { bandit } from "./bandit/bandit.ts";
import type { EnvironmentPart } from "../env/environments/environment.ts";
import { frozenLake } from "./lake/frozen-lake.ts";
import { searchQa } from "../env/environments/search-qa.ts";
import { toolQa } from "../env/environments/tool-qa.ts";

/** All environments. */
export const environments = registry<EnvironmentPart>("environment", [
  searchQa,
  toolQa,
  frozenLake,
  bandit,
]);
