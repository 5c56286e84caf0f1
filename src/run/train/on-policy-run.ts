import { algorithms } from "../../algorithms/index.ts";
import type { OnPolicyOptions, OnPolicyRun } from "../../algorithms/on-policy.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { HeldWeights, PolicyEngine } from "../../engine/engine.ts";
import type { Retriever } from "../../retrieval/retriever.ts";
import type { Roles } from "../../trajectory/role.ts";
import {
  environmentOver,
  expressionOf,
  policyOf,
  retrieverOver,
  weightedRewards,
} from "../assemble.ts";
import { requireTemperatureOf } from "../checks/remote-engine.ts";
import type { Settings } from "../settings/settings-schema.ts";

/** A recipe's `algorithm`: its name beside its own options. */
export type AlgorithmSettings = NonNullable<Settings["algorithm"]>;

/** The options that every algorithm of the loop has, and its own. */
export function onPolicyOptions({ name: _, ...options }: AlgorithmSettings): OnPolicyOptions {
  return options as unknown as OnPolicyOptions;
}

/** What a training by rollouts needs, as the recipe names it; the caller adds the steps and closes it. */
export interface AssembledRun {
  run: Omit<OnPolicyRun, "firstStep" | "onStep">;
  retriever: Retriever;
  close: () => Promise<void>;
}

/**
 * Assembles the parts that a recipe names for `trainOnPolicy`: retriever, environment, policy, rewards.
 * @throws {ConfigError} ENGINE_UNFIT as `requireTemperatureOf`.
 * @param from.held what rollouts sample from while `engine` trains; they sample from the engine when absent.
 * @param from.model folder that the policy was read from.
 * @param from.roles models beside the policy, for tools that ask one.
 * @param from.questions false: batches are read from disk, so no questions are.
 */
export async function assembleOnPolicyRun(
  settings: Settings,
  from: {
    algorithm: AlgorithmSettings;
    engine: PolicyEngine;
    held?: HeldWeights | null;
    train: Dataset;
    model: string;
    signal: AbortSignal;
    roles?: Roles;
    questions?: boolean;
  },
): Promise<AssembledRun> {
  const { algorithm, engine, held = null, train, model, signal, roles, questions = true } = from;
  const { temperatures } = engine.capabilities;
  requireTemperatureOf(settings, { temperatures, name: String(engine.machine.dialect) });
  const retriever = await retrieverOver(train, settings, "training");
  const close = (): Promise<void> => retriever.close();
  try {
    const environment = environmentOver(retriever, settings, "training", roles);
    const run = {
      algorithm: algorithms.get(algorithm.name, "algorithm"),
      options: onPolicyOptions(algorithm),
      engine,
      environment,
      strategy: settings.strategy,
      policy: await policyOf(held?.engine ?? engine, settings, model, environment),
      tasks: questions ? await train.tasks() : [],
      rewards: weightedRewards(settings),
      sampling: settings.sampling,
      scoring: { expression: expressionOf(settings), tokenizer: engine.tokenizer },
      seed: settings.seed,
      signal,
      holdWeights: held === null ? undefined : () => held.hold(),
    };
    return { run, retriever, close };
  } catch (error) {
    await close();
    throw error;
  }
}
