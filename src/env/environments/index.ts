import { registry } from "../../base/registry.ts";
import { bandit } from "./bandit.ts";
import type { EnvironmentPart } from "./environment.ts";
import { frozenLake } from "./frozen-lake.ts";
import { searchQa } from "./search-qa.ts";
import { toolQa } from "./tool-qa.ts";

/** All environments. */
export const environments = registry<EnvironmentPart>("environment", [
  searchQa,
  toolQa,
  frozenLake,
  bandit,
]);
