import { advantageEstimators } from "../advantages/index.ts";
import { registry } from "../base/registry.ts";
import { suggest } from "../base/nearest.ts";
import type { CriticTrunk } from "../engine/engine.ts";
import { needsReference } from "../losses/index.ts";
import {
  type OnPolicyAlgorithm,
  type OnPolicyOptions,
  estimatorOf,
  lossesOf,
} from "./algorithm.ts";
import { BATCH_FIELDS, ownFieldNames } from "./own-fields.ts";

/** Algorithms that learn from their own rollouts. */
export const algorithms = registry<OnPolicyAlgorithm>("algorithm", {
  grpo: async () => (await import("./grpo.ts")).grpo,
  ppo: async () => (await import("./ppo.ts")).ppo,
  reinforce: async () => (await import("./reinforce.ts")).reinforce,
});

/** Whether an algorithm's losses or its estimator read log-probabilities under the weights with which training began. */
export function readsReference({ name, ...options }: NamedOptions): boolean {
  const algorithm = algorithms.get(name, "algorithm");
  const given = options as unknown as OnPolicyOptions;
  const estimator = estimatorOf(algorithm, given);
  // A coefficient on a schedule may begin at 0.
  const steps = Array.from({ length: Math.max(given.steps, 1) }, (_, step) => step);
  return (
    given.klReward !== undefined ||
    steps.some((step) => lossesOf(algorithm, given, step).some(needsReference)) ||
    advantageEstimators.get(estimator.name, "algorithm.advantage").reads.includes("reference")
  );
}

/** Where an algorithm's critic is; undefined: it has none. */
export function criticTrunkOf({ name, ...options }: NamedOptions): CriticTrunk | undefined {
  return algorithms.get(name, "algorithm").critic?.(options).trunk;
}

/**
 * What is wrong where a loss reads a field that nobody writes; null where all are written.
 * @param rewards the names of the recipe's rewards.
 */
export function unwrittenField(
  { name: of, ...given }: NamedOptions,
  rewards: readonly string[],
): string | null {
  const algorithm = algorithms.get(of, "algorithm");
  const options = given as unknown as OnPolicyOptions;
  const { name } = estimatorOf(algorithm, options);
  const { writes = [] } = advantageEstimators.get(name, "algorithm.advantage");
  const losses = lossesOf(algorithm, options);
  const field = ownFieldNames(losses).find((each) => ![...writes, ...rewards].includes(each));
  if (field === undefined) return null;
  const loss = losses.find((each) => ownFieldNames([each]).includes(field))?.name ?? "";
  return `reads the field "${field}" by its loss "${loss}", and nothing writes it: neither the advantage estimator "${name}" nor a reward of that name. ${suggest(field, [...BATCH_FIELDS, ...writes, ...rewards])}`;
}

/** An algorithm as a recipe sets it. */
type NamedOptions = { name: string } & Record<string, unknown>;
