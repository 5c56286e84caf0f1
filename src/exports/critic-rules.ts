import { criticOptimizer, type CriticSettings } from "../algorithms/critic.ts";
import type { OptimizerSettings } from "../algorithms/optimizer-settings.ts";
import type { Scheduled } from "../base/schedule.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { algorithmOf } from "./shared-rules.ts";

/** The optimizer of a critic with its own decoder, its learning rate in the critic's own scale. */
export function criticsOptimizer(
  critic: Pick<CriticSettings, "optimizer">,
  settings: Settings,
): OptimizerSettings {
  const policys = algorithmOf(settings).optimizer;
  const { settings: own, factor } = criticOptimizer(critic as CriticSettings, policys);
  return { ...own, learningRate: scaled(own.learningRate, factor) };
}

function scaled(rate: Scheduled, factor: number): Scheduled {
  if (typeof rate === "number") return factor * rate;
  if (rate.schedule === "constant") return { ...rate, value: factor * rate.value };
  if (rate.schedule === "steps") return rate;
  return { ...rate, from: factor * rate.from, to: factor * rate.to };
}
