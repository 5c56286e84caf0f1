import { AgentrlError, ConfigError, ExternalError } from "../../base/errors.ts";
import { freeDiskBytes } from "../../base/files.ts";
import { formatBytes } from "../../base/format.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import { type Plan, plannedRun, planRecipe } from "../plan/plan.ts";
import { plannedModel } from "../plan/planned-model.ts";

/** float32 weights and Adam's two moments. */
const CHECKPOINT_BYTES_PER_PARAMETER = 12;

/**
 * Refuses a training that cannot fit on this machine, before it downloads or computes anything: its memory, and one checkpoint on the disk
 * of the run folder. Where the recipe cannot be planned, such as for a model of unknown shape, nothing is checked.
 *
 * @throws {ConfigError} PLAN_OVER_BUDGET
 * @throws {ExternalError} RUN_DISK_FULL
 */
export async function requireRoom(
  resolved: ResolvedSettings<Settings>,
  out: string,
): Promise<void> {
  const plan = await planOf(resolved);
  if (plan === null) return;
  requireMemory(`${resolved.recipe.name}, tier ${resolved.tier}`, plan);
  const free = await freeDiskBytes(out);
  const bytes = plan.model.trained * CHECKPOINT_BYTES_PER_PARAMETER;
  if (bytes <= free) return;
  const smaller =
    plan.model.lora === null
      ? " Checkpoints of adapters are much smaller: --set policy.lora.rank=16."
      : "";
  throw new ExternalError(
    "RUN_DISK_FULL",
    `${out}: one checkpoint of this run takes ${formatBytes(bytes)}, and its disk has ${formatBytes(free)} free. Free space, or choose another disk with --out.${smaller}`,
  );
}

/** Null where the recipe cannot be planned: the run itself reports what is wrong. */
async function planOf(resolved: ResolvedSettings<Settings>): Promise<Plan | null> {
  try {
    const model = await plannedModel(resolved.settings);
    return planRecipe(await plannedRun(resolved, model), { memory: null });
  } catch (error) {
    if (error instanceof AgentrlError) return null;
    throw error;
  }
}

/** @throws {ConfigError} PLAN_OVER_BUDGET, with smaller settings that fit. */
export function requireMemory(title: string, { memory, fitting, smallest }: Plan): void {
  const { total, budget, fits } = memory;
  if (fits !== false) return;
  const over = `${title}: the memory forecast is ${formatBytes(total)}, and ${formatBytes(budget ?? 0)} are available.`;
  throw new ConfigError("PLAN_OVER_BUDGET", `${over} ${remedyText(fitting, smallest)}`);
}

function remedyText(fitting: Plan["fitting"], smallest: Plan["smallest"]): string {
  if (fitting !== null) {
    return `This fits, at ${formatBytes(fitting.forecast.total)}: ${setFlags(fitting.settings)}`;
  }
  const least = "No micro-batch, number of workers or of slots makes it fit";
  if (smallest === null) return `${least}, nor do adapters or any model known here.`;
  const { model, settings, forecast } = smallest;
  const named = model === null ? "" : `--model ${model} `;
  return `${least}; ${model === null ? "adapters in place of all weights do" : "a smaller model does"}, at ${formatBytes(forecast.total)}: ${named}${setFlags(settings)}`;
}

/** Settings as flags. */
function setFlags(settings: Readonly<Record<string, number | boolean | string>>): string {
  return Object.entries(settings)
    .map(([key, value]) => `--set ${key}=${value}`)
    .join(" ");
}
