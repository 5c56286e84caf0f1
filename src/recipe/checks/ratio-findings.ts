import { algorithms } from "../../train/index.ts";
import { lossesOf, type OnPolicyOptions } from "../../train/algorithm.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { BudgetFinding } from "./budget-facts.ts";

/**
 * Whether the ratio of the loss compares one distribution with itself. Sampled log-probabilities are those of what was drawn from;
 * the trainer's are of temperature 1 over all tokens.
 */
export function ratioFindings(
  { algorithm, sampling, engine: { samplingWeights } }: Settings,
  options: OnPolicyOptions,
): Omit<BudgetFinding, "origin">[] {
  const { temperature, topP, topK } = sampling;
  if (algorithm === undefined || options.oldLogprobs !== "sampled" || temperature === 0) return [];
  const losses = lossesOf(algorithms.get(algorithm.name, "algorithm"), options);
  if (losses.every((loss) => loss.options["ratio"] === "none")) return [];
  const shaped = [
    ...(temperature === 1 ? [] : [["sampling.temperature", temperature] as const]),
    ...(topP === 1 ? [] : [["sampling.topP", topP] as const]),
    ...(topK === 0 ? [] : [["sampling.topK", topK] as const]),
    ...(samplingWeights === "float32"
      ? []
      : [["engine.samplingWeights", samplingWeights] as const]),
  ];
  const [first] = shaped;
  if (first === undefined) return [];
  const list = shaped.map(([key, value]) => `${key.replace(/^.*\./, "")} ${value}`).join(", ");
  return [
    {
      ...{ severity: "warning", key: first[0] },
      message: `${list}: what is drawn has log-probabilities of that distribution, and the trainer's are of temperature 1 over all tokens in float32, so that ratios differ from 1, and are clipped, before anything is learned (mismatch/kl). algorithm.oldLogprobs: recomputed takes both from the trainer; temperature 1 with all tokens in float32 makes them one.`,
    },
  ];
}
