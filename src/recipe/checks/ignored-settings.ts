import { openStrategy } from "../../rollout/strategies/named-strategy.ts";
import { ConfigError } from "../../base/errors.ts";
import { lossesOf, type OnPolicyOptions } from "../../train/algorithm.ts";
import { algorithms } from "../../train/index.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";

/** A setting without effect on a training. */
export interface IgnoredSetting {
  key: string;
  /** Where it was set. */
  origin: string;
  /** Why it has no effect, and the remedy. */
  why: string;
}

/** A rule: another setting switches settings off. */
interface Rule {
  /** Keys without effect then, including the keys below them. `*` stands for any position in a list. */
  keys: readonly string[];
  /** The key that decides it. */
  by: string;
  holds: (settings: Settings, options: Readonly<Record<string, unknown>>) => boolean;
  why: string;
}

const RULES: readonly Rule[] = [
  {
    keys: ["policy.fresh"],
    by: "algorithm",
    holds: () => true,
    why: "agentrl train starts from policy.from; fresh weights are for agentrl sft. Take it out, or name what sft left by policy.from",
  },
  {
    keys: ["engine.frozenWeights"],
    by: "policy.lora",
    holds: ({ policy, engine }) => policy.lora === undefined && engine.frozenWeights !== "float32",
    why: "without adapters every weight is trained, in float32. Take it out, or set policy.lora",
  },
  {
    keys: ["algorithm.fixedLength"],
    by: "algorithm.lossAggregation",
    holds: (_, { lossAggregation }) => lossAggregation !== "fixed-length-mean",
    why: "algorithm.lossAggregation is not fixed-length-mean, which alone divides by it. Take it out, or set that",
  },
  {
    keys: ["algorithm.klEstimator"],
    by: "algorithm.klCoef",
    holds: (_, { klCoef }) => klCoef === 0,
    why: "algorithm.klCoef is 0, so there is no KL to estimate. Take it out, or set a coefficient",
  },
  {
    keys: ["algorithm.oldLogprobs"],
    by: "algorithm.name",
    holds: (_, options) =>
      lossOf(options)["ratio"] === "none" && options["oldLogprobs"] !== "sampled",
    why: "the algorithm's loss has no ratio, so it reads no old log-probabilities. Take it out",
  },
  {
    keys: ["sampling.topP", "sampling.topK"],
    by: "sampling.temperature",
    holds: ({ sampling }) => sampling.temperature === 0,
    why: "at temperature 0 the likeliest token is taken, whatever else could be. Take it out, or raise the temperature",
  },
  {
    keys: ["evaluation.sampling.topP", "evaluation.sampling.topK"],
    by: "evaluation.sampling.temperature",
    holds: ({ evaluation }) => evaluation.sampling.temperature === 0,
    why: "at temperature 0 the likeliest token is taken, whatever else could be. Take it out, or raise the temperature",
  },
  {
    keys: ["rewards.*.weight"],
    by: "reward",
    holds: ({ reward }) => reward !== undefined,
    why: "reward is an expression, which replaces the weights. Take it out, or write it as a factor in reward",
  },
  {
    keys: ["retriever"],
    by: "strategy",
    holds: (settings) => !searches(settings.strategy) && !searches(settings.evaluation.strategy),
    why: "neither strategy nor evaluation.strategy searches. Take it out, or choose a strategy that does",
  },
  {
    keys: ["evaluation.retriever"],
    by: "evaluation.strategy",
    holds: (settings) => !searches(settings.evaluation.strategy),
    why: "evaluation.strategy does not search. Take it out, or choose one that does",
  },
];

/**
 * Settings of a training by rollouts that somebody set and that nothing would look at. One that a later layer switches off (a tier or
 * an arm of a claim over the recipe's base) is meant so, and left out.
 */
export function ignoredSettings({
  settings,
  origins,
}: ResolvedSettings<Settings>): IgnoredSetting[] {
  const { algorithm } = settings;
  if (algorithm === undefined) return [];
  const of = (key: string): (readonly [string, string])[] =>
    [...origins].filter(([each]) => isAtOrBelow(each, key));
  return RULES.filter(({ holds }) => holds(settings, algorithm)).flatMap(({ keys, by, why }) => {
    const decided = Math.max(0, ...of(by).map(([, origin]) => layerOf(origin)));
    return keys.flatMap((pattern) => {
      const found = new Map<string, string>();
      for (const [each, origin] of of(pattern)) {
        const key = each.split(".").slice(0, pattern.split(".").length).join(".");
        const isSet = origin !== "default" && layerOf(origin) >= decided;
        if (isSet && !found.has(key)) found.set(key, origin);
      }
      return [...found].map(([key, origin]) => ({ key, origin, why }));
    });
  });
}

/** @param pattern a key, in which `*` stands for any position in a list. */
function isAtOrBelow(key: string, pattern: string): boolean {
  const keys = key.split(".");
  return pattern.split(".").every((each, i) => each === keys[i] || (each === "*" && i in keys));
}

/**
 * @throws {ConfigError} SETTING_IGNORED naming every setting of `ignoredSettings`, where there is one.
 */
export function requireHonoured(resolved: ResolvedSettings<Settings>): void {
  const ignored = ignoredSettings(resolved);
  if (ignored.length === 0) return;
  const lines = ignored.map(
    ({ key, origin, why }) => `${origin}: ${key} would be ignored: ${why}.`,
  );
  throw new ConfigError("SETTING_IGNORED", `${lines.join("\n")} --allow-ignored trains anyway.`);
}

/** default, a recipe's base, its tier, and whatever is laid over that: flags, arms of claims, stages. */
function layerOf(origin: string): number {
  if (origin === "default") return 0;
  if (/:\d+ \(tier [^)]*\)$/.test(origin)) return 2;
  return /:\d+$/.test(origin) ? 1 : 3;
}

function lossOf(options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { name, ...own } = options;
  const algorithm = algorithms.get(String(name), "algorithm");
  return lossesOf(algorithm, own as unknown as OnPolicyOptions)[0]?.options ?? {};
}

function searches(strategy: Settings["strategy"]): boolean {
  return openStrategy(strategy, "strategy").searches;
}
