import { type Registry, registry } from "../base/registry.ts";
import type { EnvironmentPart } from "../env/environments/environment.ts";
import { searchQa } from "../env/environments/search-qa.ts";
import { toolQa } from "../env/environments/tool-qa.ts";
import { worlds } from "./index.ts";

/** All environments: those for any question, and those of the worlds. */
export const environments: Registry<EnvironmentPart> = registry("environment", [
  searchQa,
  toolQa,
  ...worlds.parts.flatMap((world) => world.environments),
]);
