import { ConfigError } from "../../base/errors.ts";
import {
  type Dialect,
  dialectNamed,
  oneModelOnly,
  requireComputable,
  requireExpressible,
  requireFullWeights,
  requireHonoured,
  requireTemperature,
} from "../../engine/remote-plan.ts";
import { algorithms, criticTrunkOf, readsReference } from "../../algorithms/index.ts";
import { preferenceLosses } from "../../losses/preference/index.ts";
import { lossesOf, type OnPolicyOptions, recomputesOld } from "../../algorithms/algorithm.ts";
import { adamAt } from "../../algorithms/optimizer-settings.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import { cannotHold } from "../../engine/engine.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { samplesAhead } from "./off-policy.ts";

/**
 * Refuses what a training server (`engine.name: tinker`) cannot do or would ignore, before anything is connected. With another engine
 * there is nothing to refuse.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE without an address; ENGINE_UNFIT with the key.
 */
export function requireRemoteEngine(settings: Settings): void {
  const { engine, policy, algorithm } = settings;
  if (engine.name !== "tinker") return;
  if (engine.url === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      "engine.url is not set: engine.name tinker needs the address of a server, e.g. http://127.0.0.1:8000 of agentrl serve engine.",
    );
  }
  const dialect = engine.dialect === undefined ? null : dialectNamed(engine.dialect);
  if (policy.lora !== undefined) requireExpressible(policy.lora);
  else if (dialect !== null) requireFullWeights(dialect, engine.url);
  if (policy.lora === undefined && engine.sampler !== undefined)
    throw unfit(
      "engine.sampler is set, and policy.lora is not",
      "hands adapters alone to a sampling server",
      "Remove engine.sampler, or set policy.lora: {}",
    );
  if (algorithm !== undefined) requireAlgorithm(settings, algorithm);
  if (dialect !== null) requireDialect(settings, dialect);
}

/**
 * Refuses what a server of a dialect cannot do or would ignore: at planning where the recipe names it, else when it is found out.
 * @throws {ConfigError} ENGINE_UNFIT with the key.
 */
export function requireDialect(settings: Settings, dialect: Dialect): void {
  const { engine, policy, algorithm, sft, preference } = settings;
  if (algorithm !== undefined) requireTemperatureOf(settings, dialect);
  const { optimizer } = (algorithm ?? {}) as Partial<OnPolicyOptions>;
  for (const each of [optimizer, sft?.optimizer, preference?.optimizer])
    if (each !== undefined) requireHonoured(adamAt(each, 0, 1), dialect);
  if (samplesAhead(settings) && engine.sampler === undefined && !dialect.holdsWeights)
    throw cannotHold(`a ${dialect.name} server`);
  if (policy.lora !== undefined || dialect.fullWeights !== "one") return;
  const other = otherModel(settings);
  if (other !== null) throw oneModelOnly(engine.url ?? "the server", other);
}

/** What asks for another model beside the policy, at the server. */
function otherModel({ algorithm, preference, models = {} }: Settings): string | null {
  if (algorithm !== undefined && readsReference(algorithm))
    return `algorithm ${algorithm.name} compares with a reference policy`;
  if (
    preference !== undefined &&
    preferenceLosses.get(preference.loss.name, "preference.loss").needsReference
  )
    return `preference.loss ${preference.loss.name} compares with a reference policy`;
  const snapshot = Object.entries(models).find(([, model]) => "every" in model);
  return snapshot === undefined ? null : `models.${snapshot[0]} is a snapshot of the policy`;
}

/** @throws {ConfigError} ENGINE_UNFIT for draws at a temperature at which an engine computes no log-probabilities. */
export function requireTemperatureOf(
  { sampling }: Pick<Settings, "sampling">,
  engine: { name: string; temperatures: boolean },
): void {
  if (sampling.temperature > 0) requireTemperature(sampling.temperature, engine);
}

/** Whether a sampling server (`engine.sampler`), whose log-probabilities are of temperature 1, gives those of the draws. */
export function givesLogprobsOf({ temperature }: Settings["sampling"]): boolean {
  return temperature === 0 || temperature === 1;
}

function requireAlgorithm(
  { sampling, engine }: Settings,
  algorithm: NonNullable<Settings["algorithm"]>,
): void {
  const { name, ...rest } = algorithm;
  const options = rest as unknown as OnPolicyOptions;
  if (criticTrunkOf(algorithm) !== undefined)
    throw unfit(`algorithm.name is ${name}`, "has no critic", "Use grpo or reinforce");
  for (const loss of lossesOf(algorithms.get(name, "algorithm"), options)) requireComputable(loss);
  const isCompared = !recomputesOld(options) || "importanceSamplingCap" in algorithm;
  if (engine.sampler === undefined || givesLogprobsOf(sampling) || !isCompared) return;
  throw new ConfigError(
    "ENGINE_UNFIT",
    `sampling.temperature is ${sampling.temperature}: engine.sampler gives log-probabilities of temperature 1, which are not those of the draw. Set algorithm.oldLogprobs: recomputed without importanceSamplingCap, or remove engine.sampler, or set sampling.temperature: 1.`,
  );
}

function unfit(found: string, why: string, remedy: string): ConfigError {
  return new ConfigError(
    "ENGINE_UNFIT",
    `${found}: a training server ${why}. ${remedy}, or use engine.name: local.`,
  );
}

/** Warnings where anybody on the way could train, or read the data: servers without a key that are not on this machine. */
export function exposureWarnings({ engine }: Settings): RunEvent[] {
  const { name, url, apiKeyEnv, sampler } = engine;
  if (name !== "tinker" || url === undefined) return [];
  return [
    ...exposureOf(url, apiKeyEnv, "engine.apiKeyEnv"),
    ...(sampler === undefined
      ? []
      : exposureOf(sampler.url, sampler.apiKeyEnv, "engine.sampler.apiKeyEnv")),
  ];
}

function exposureOf(url: string, apiKeyEnv: string | null, setting: string): RunEvent[] {
  const { hostname, protocol, origin } = new URL(url);
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return [];
  const without = [
    ...(apiKeyEnv === null ? [`a key (${setting})`] : []),
    ...(protocol === "http:" ? ["encryption"] : []),
  ];
  if (without.length === 0) return [];
  const message = `${origin} is reached without ${without.join(" and ")}: everyone who can reach the server or read its traffic can use it. Use a tunnel (ssh -L) to 127.0.0.1, or a key over https.`;
  return [{ kind: "exposed", step: 0, message, facts: { server: origin } }];
}
