import { type Registry, registry } from "../base/registry.ts";
import type { EnvironmentPart } from "../env/environments/environment.ts";

/** All environments: those for any question, and those of the worlds. */
export const environments: Registry<EnvironmentPart> = registry("environment", {
  "search-qa": async () => (await import("../env/environments/search-qa.ts")).searchQa,
  "tool-qa": async () => (await import("../env/environments/tool-qa.ts")).toolQa,
  "frozen-lake": async () => (await import("./lake/index.ts")).lake,
  bandit: async () => (await import("./bandit/index.ts")).banditEnvironment,
});
