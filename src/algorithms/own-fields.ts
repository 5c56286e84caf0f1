import { tokensAt } from "../advantages/credit.ts";
import type { Advantage, Rewarded } from "../advantages/estimator.ts";
import { losses as lossParts } from "../losses/index.ts";
import type { LossSpec } from "../losses/loss.ts";

/** Fields of every batch; the last three where a critic learns. */
export const BATCH_FIELDS = [
  ...["advantages", "oldLogprobs", "sampledLogprobs", "refLogprobs", "rowOffsets"],
  ...["values", "oldValues", "returns"],
];

/**
 * The fields beside those of every batch that losses read: an estimator writes them (`writes`), or they are the values of the reward of
 * that name.
 */
export function ownFieldNames(losses: readonly LossSpec[]): string[] {
  const read = losses.flatMap(({ name }) => lossParts.get(name, "algorithm.loss").fields);
  return [...new Set(read.filter((name) => !BATCH_FIELDS.includes(name)))];
}

/** A field at each token of a trajectory; 0 where nothing was written. */
export function ownField(
  { rewards, tokens }: Rewarded,
  advantage: Advantage | undefined,
  field: string,
): readonly number[] {
  const written =
    typeof advantage === "object" && "advantages" in advantage ? advantage.fields?.[field] : null;
  if (written != null) return written;
  const values = tokens.call.map(() => 0);
  for (const { name, value, at } of rewards) {
    if (name !== field || value === null) continue;
    for (const token of at === null ? values.keys() : tokensAt(tokens, at))
      values[token] = (values[token] ?? 0) + value;
  }
  return values;
}
