import { definedValues } from "../../base/defined-values.ts";
import type { LossSpec } from "../../losses/loss.ts";
import { TEMPERATURES, type TrainingRow, VALUE_WEIGHTS } from "../../engine/engine.ts";
import type { ForwardBackwardCall, WireRow } from "../../engine/tinker/messages.ts";
import { ApiError } from "./api-error.ts";

type ServedLoss = (config: Readonly<Record<string, number>>) => LossSpec;

/** Bounds of the ratio as the API names them; defaults as the SDK documents them. */
const bounds = (
  config: Readonly<Record<string, number>>,
): { clipLow: number; clipHigh: number } => ({
  clipLow: 1 - (config["clip_low_threshold"] ?? 0.8),
  clipHigh: (config["clip_high_threshold"] ?? 1.2) - 1,
});

/** Above e^20, to which the exponent is limited: no bound. */
const NO_BOUND = 1e9;

const servedLosses: Readonly<Record<string, ServedLoss>> = {
  cross_entropy: () => ({ name: "cross-entropy", options: {} }),
  importance_sampling: () => ({
    name: "policy-gradient",
    options: { clipLow: 1, clipHigh: NO_BOUND },
  }),
  ppo: (config) => ({ name: "policy-gradient", options: bounds(config) }),
  cispo: (config) => ({ name: "cispo", options: bounds(config) }),
};

/** A loss of the API as one of ours. All are sums of weight · token loss. @throws {ApiError} 400 */
export function servedLoss({ lossFn, config }: ForwardBackwardCall): LossSpec {
  const found = Object.hasOwn(servedLosses, lossFn) ? servedLosses[lossFn] : undefined;
  if (found !== undefined) return found(config);
  throw new ApiError(
    400,
    `Loss function ${lossFn} is not supported: ${Object.keys(servedLosses).join(", ")}.`,
  );
}

/**
 * Rows of the API as rows of an engine. Every target is scored, also those with weight 0: the reply has log-probabilities of all.
 * @throws {ApiError} 400 for arrays that are missing, of another length or not finite, unknown tokens and sequences that are too long.
 */
export function servedRows(
  { rows, lossFn }: ForwardBackwardCall,
  limits: { maxPositions: number; vocabSize: number },
): TrainingRow[] {
  return rows.map((row, index) => {
    const { tokens, fields } = row;
    const bad = (what: string): ApiError => new ApiError(400, `data[${index}]: ${what}.`);
    if (tokens.length === 0 || tokens.length > limits.maxPositions)
      throw bad(`${tokens.length} tokens, where 1 to ${limits.maxPositions} are allowed`);
    const needed = [
      "target_tokens",
      ...(lossFn === "cross_entropy" ? [] : ["logprobs", "advantages"]),
    ];
    for (const name of new Set([...needed, ...Object.keys(fields)])) {
      const length = fields[name]?.length ?? 0;
      if (length !== tokens.length)
        throw bad(`${name} has ${length} values for ${tokens.length} tokens`);
      if (fields[name]?.some((value) => !Number.isFinite(value)))
        throw bad(`${name} is not finite`);
    }
    if (fields[TEMPERATURES]?.some((value) => value <= 0))
      throw bad(`${TEMPERATURES} has a value that is not above 0`);
    const targets = fields["target_tokens"] ?? [];
    const stray = [...tokens, ...targets].find((id) => !(id >= 0 && id < limits.vocabSize));
    if (stray !== undefined) throw bad(`token ${stray} of a vocabulary of ${limits.vocabSize}`);
    return { inputs: tokens, targets, fields: engineFields(row) };
  });
}

function engineFields({ tokens, fields }: WireRow): TrainingRow["fields"] {
  const ones = tokens.map(() => 1);
  return {
    weights: fields["weights"] ?? ones,
    ...definedValues({
      [VALUE_WEIGHTS]: ones,
      oldLogprobs: fields["logprobs"],
      advantages: fields["advantages"],
      [TEMPERATURES]: fields[TEMPERATURES],
    }),
  };
}
