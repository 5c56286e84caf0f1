import { environmentOver, searchlessFor } from "../assemble.ts";
import { atStage } from "../stages/stage-settings.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import { stageList } from "../settings/stages.ts";
import { requireHonoured } from "./ignored-settings.ts";

/**
 * What a training would refuse before it opens a model or data: settings without effect, and an environment that does not fit its tools,
 * protocol or strategy.
 * @throws {ConfigError} SETTING_IGNORED, STRATEGY_UNFIT, TOOL_TWICE, TOOL_UNCALLABLE; as the environment's part.
 */
export async function requireTrainable(resolved: ResolvedSettings<Settings>): Promise<void> {
  const { stages, ...settings } = resolved.settings;
  if (stages === undefined) {
    requireOneTrainable({ ...resolved, settings });
    return;
  }
  for (const stage of stageList(stages)) {
    if (stage.do !== "train") continue;
    const own = await atStage(resolved, stage);
    const { stages: _, ...ofStage } = own.settings;
    requireOneTrainable({ ...own, settings: ofStage });
  }
}

function requireOneTrainable(resolved: ResolvedSettings<Settings>): void {
  const { settings } = resolved;
  if (settings.algorithm === undefined) return;
  requireHonoured(resolved);
  const searchless = searchlessFor(settings);
  environmentOver(searchless, settings, "training");
  environmentOver(searchless, settings, "evaluation");
}
