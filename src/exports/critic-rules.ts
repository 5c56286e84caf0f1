import { criticOptimizer, type CriticSettings } from "../algorithms/critic.ts";
import type { OptimizerSettings } from "../algorithms/optimizer-settings.ts";
import type { Scheduled } from "../base/schedule.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { type Rule, rule } from "./rule.ts";
import { algorithmOf, grpoOfWhole, oneOf, only } from "./shared-rules.ts";

/** The optimizer of a critic with its own decoder, its learning rate in the critic's own scale. */
export function scaledCriticOptimizer(
  critic: Pick<CriticSettings, "optimizer">,
  settings: Settings,
): OptimizerSettings {
  const policys = algorithmOf(settings).optimizer;
  const { settings: own, factor } = criticOptimizer(critic, policys);
  return { ...own, learningRate: scaled(own.learningRate, factor) };
}

function scaled(rate: Scheduled, factor: number): Scheduled {
  if (typeof rate === "number") return factor * rate;
  if (rate.schedule === "constant") return { ...rate, value: factor * rate.value };
  if (rate.schedule === "steps") return rate;
  return { ...rate, from: factor * rate.from, to: factor * rate.to };
}

/** Algorithms of trainers that have PPO beside GRPO, and how their GAE walks over tokens. @param allTokens what `all-tokens` is there. */
export function ppoRules(estimatorKey: string, allTokens: string): Rule[] {
  return [
    rule<string>("algorithm.name", {
      allowed: {
        says: `ppo; or ${grpoOfWhole.says}`,
        is: (name, settings) => name === "ppo" || grpoOfWhole.is(name, settings),
      },
      to: (name) => ({ [estimatorKey]: name === "ppo" ? "gae" : "grpo" }),
    }),
    rule("algorithm.timeAxis", {
      allowed: oneOf("policy-tokens", "all-tokens"),
      differs: (axis) => (axis === "all-tokens" ? allTokens : null),
    }),
    rule("algorithm.turnGamma", { unused: "only for turns-then-tokens" }),
    rule("algorithm.whiten", { allowed: only(true) }),
  ];
}
