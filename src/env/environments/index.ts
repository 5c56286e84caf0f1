import { registry } from "../../base/registry.ts";
import type { EnvironmentPart } from "./environment.ts";
import { searchQa } from "./search-qa.ts";

/** All environments. */
export const environments = registry<EnvironmentPart>("environment", [searchQa]);
