/** Rows to learn from, and what they are learned by, for tests that hold two devices against each other. */
import { random } from "../../src/base/random.ts";
import type { TrainingRow } from "../../src/engine/engine.ts";
import type { LossSpec } from "../../src/losses/loss.ts";
import type { DecoderConfig } from "../../src/models/config.ts";
import type { LoraConfig } from "../../src/models/lora/lora.ts";

export const policyGradient: LossSpec = {
  name: "policy-gradient",
  options: { klCoef: 0.1, entropyCoef: 0.01 },
};

export const smallAdapters: LoraConfig = {
  rank: 2,
  alpha: 4,
  rslora: false,
  targets: ["q_proj", "down_proj"],
};

/** A sampled completion as a row to learn from: only what was sampled has a weight. */
export function sampledRow(
  promptIds: readonly number[],
  { ids, logprobs }: { ids: readonly number[]; logprobs: readonly number[] },
  advantage: number,
): TrainingRow {
  const all = [...promptIds, ...ids];
  const own = (values: readonly number[]): number[] => [
    ...promptIds.slice(1).map(() => 0),
    ...values,
  ];
  return {
    inputs: all.slice(0, -1),
    targets: all.slice(1),
    fields: {
      weights: own(ids.map(() => 1 / 20)),
      advantages: own(ids.map(() => advantage)),
      oldLogprobs: own(logprobs),
      refLogprobs: own(logprobs.map((each) => each - 0.1)),
    },
  };
}

export function madeRows(config: DecoderConfig): TrainingRow[] {
  const draw = random("rows");
  const ids = (count: number): number[] =>
    Array.from({ length: count }, () => draw.int(config.vocabSize));
  return [1, -1].map((advantage) => {
    const logprobs = Array.from({ length: 11 }, () => -5 + draw.next());
    return sampledRow(ids(9), { ids: ids(11), logprobs }, advantage);
  });
}
