import { type OnPolicyOptions, lossesOf, recomputesOld } from "../../algorithms/algorithm.ts";
import { algorithms } from "../../algorithms/index.ts";
import { samplers } from "../../algorithms/samplers/index.ts";
import { ConfigError } from "../../base/errors.ts";
import { cannotHold } from "../../engine/engine.ts";
import { losses } from "../../losses/index.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { BudgetFinding } from "./budget-finding.ts";

/** Whether the rollouts of a step are sampled while the step before trains. */
export function samplesAhead({ algorithm }: Pick<Settings, "algorithm">): boolean {
  return (algorithm as Partial<OnPolicyOptions> | undefined)?.maxStepsOffPolicy === 1;
}

/**
 * Refuses asynchronous rollouts where they cannot be right, before anything is connected.
 * @throws {ConfigError} ENGINE_UNFIT for an engine that cannot sample from the weights before a step while it trains; RECIPE_BAD_VALUE
 *   with snapshots of the policy.
 */
export function requireAheadFits(settings: Settings): void {
  if (!samplesAhead(settings)) return;
  const { engine, models = {} } = settings;
  if (engine.name !== "tinker") throw cannotHold(`engine.name: ${engine.name}`);
  const snapshot = Object.entries(models).find(([, model]) => "every" in model);
  if (snapshot === undefined) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `algorithm.maxStepsOffPolicy is 1, and models.${snapshot[0]} is a snapshot of the policy: it would change under the rollouts of the next step. Set algorithm.maxStepsOffPolicy: 0, or use a model with "from" or "endpoint".`,
  );
}

/** Losses that take rollouts of older weights for rollouts of the present ones. */
export function staleFindings(settings: Settings): Omit<BudgetFinding, "origin">[] {
  const { algorithm } = settings;
  if (algorithm === undefined) return [];
  const options = algorithm as unknown as OnPolicyOptions;
  const { name: sampler } = options.sampler;
  const isAhead = samplesAhead(settings);
  if (!isAhead && samplers.get(sampler, "algorithm.sampler").keepsRollouts !== true) return [];
  const [key, what] = isAhead
    ? ["algorithm.maxStepsOffPolicy", "rollouts are one step behind"]
    : ["algorithm.sampler", `${sampler} keeps rollouts for a later step`];
  const recomputed = recomputesOld(options);
  return lossesOf(algorithms.get(algorithm.name, "algorithm"), options)
    .filter((loss) => !corrects(loss, recomputed))
    .map(({ name, options: { ratio } }) => {
      const [why, remedy] =
        recomputed && ratio !== "none"
          ? [
              "compares the trainer with itself (algorithm.oldLogprobs: recomputed)",
              "Set algorithm.oldLogprobs: sampled, or importanceSamplingCap where the loss has it",
            ]
          : [
              "has no ratio to the policy that sampled",
              "Use a loss with one, such as policy-gradient with ratio: token",
            ];
      return {
        severity: "warning",
        key,
        message: `${what}, and the loss ${name} ${why}: its gradient is biased by the step between (mismatch/kl says how far). ${remedy}.`,
      };
    });
}

/** Whether a loss weighs tokens by the policy's probability over the sampler's, clipped or truncated. */
function corrects({ name, options }: LossSpec, recomputed: boolean): boolean {
  const { fields } = losses.get(name, "algorithm.loss");
  if (options["ratio"] === "none") return false;
  return recomputed
    ? options["importanceSamplingCap"] !== undefined && fields.includes("sampledLogprobs")
    : fields.includes("oldLogprobs");
}
