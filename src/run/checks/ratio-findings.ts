import { algorithms } from "../../algorithms/index.ts";
import { lossesOf, type OnPolicyOptions } from "../../algorithms/algorithm.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { BudgetFinding } from "./budget-finding.ts";

/**
 * Whether the ratio of the loss compares one distribution with itself. Sampled log-probabilities are those of the whole vocabulary at the
 * draw's temperature, as the trainer computes them; matrices of fewer bits give others.
 */
export function ratioFindings(
  { algorithm, sampling, engine: { samplingWeights } }: Settings,
  options: OnPolicyOptions,
): Omit<BudgetFinding, "origin">[] {
  if (algorithm === undefined || samplingWeights === "float32") return [];
  if (options.oldLogprobs !== "sampled" || sampling.temperature === 0) return [];
  const losses = lossesOf(algorithms.get(algorithm.name, "algorithm"), options);
  if (losses.every((loss) => loss.options["ratio"] === "none")) return [];
  return [
    {
      severity: "warning",
      key: "engine.samplingWeights",
      message: `samplingWeights ${samplingWeights}: the sampler's log-probabilities are of rounded matrices, and the trainer's are of float32, so that ratios differ from 1, and are clipped, before anything is learned (mismatch/kl). algorithm.oldLogprobs: recomputed takes both from the trainer.`,
    },
  ];
}
