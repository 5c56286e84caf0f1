import { barrier, checkpoint } from "../../autodiff/checkpoint.ts";
import { rowGradients } from "../../autodiff/row-gradients.ts";
import { sizeOf, type Value } from "../../autodiff/graph.ts";
import { targetLogprob } from "../../autodiff/ops/composites.ts";
import { concat, split } from "../../autodiff/ops/shape.ts";
import type { DecoderConfig } from "../../models/config.ts";
import {
  frozenHead,
  vocabularyScores,
  vocabularySize,
  type ParameterValues,
} from "../../models/decoder.ts";
import { equalChunks } from "../../autodiff/ops/shape.ts";
import { scoresByVocabulary, vocabularyEntropy } from "./vocabulary-chunks.ts";

/** Default limit on the bytes of vocabulary scores: 110 rows of 151 936. */
export const SCORES_BYTES = 64 * 2 ** 20;

/**
 * Log-probability of each target and, if requested, entropy of the vocabulary distribution, in nats.
 *
 * Scores [K, V] larger than `scoresBytes` are never in memory at once: rows are scored in chunks. Under a frozen head the forward pass also
 * computes what the backward pass needs of a chunk (`rowGradients`); otherwise that recomputes the chunk's scores (`checkpoint`). A trained head has a gradient [V, D], to which each chunk adds in a pass over all
 * of it, so chunks then have at least D rows, whose scores are equally large. A large 16-bit head is scored in chunks of the vocabulary
 * instead (`scoresByVocabulary`).
 *
 * @param hidden [K, D].
 * @param targets int32 [K, 1].
 * @returns [K, 1] each; `entropy` is null unless requested.
 */
export function targetScores(
  parameters: ParameterValues,
  hidden: Value,
  targets: Value,
  options: { scoresBytes: number; entropy: boolean; differentiated: boolean; headTrained: boolean },
): { logprobs: Value; entropy: Value | null } {
  const score = (rows: Value, of: Value): Value => {
    const scores = vocabularyScores(parameters, rows);
    const logprobs = targetLogprob(scores, of);
    return options.entropy ? concat([logprobs, vocabularyEntropy(scores)], { axis: 1 }) : logprobs;
  };
  // The backward pass finishes the loss before it recomputes scores, and the scores before the layers.
  const border = (x: Value): Value => (options.differentiated ? barrier(x) : x);
  const [count, width] = hidden.shape as readonly [number, number];
  const head = { vocabSize: vocabularySize(parameters), hiddenSize: width };
  const lengths = equalChunks(count, chunkRows(head, options.scoresBytes, options.headTrained)).map(
    ([from, to]) => to - from,
  );
  const whole = border(hidden);
  const columns = border(scored(whole)); // [K, 1 or 2]
  if (!options.entropy) return { logprobs: columns, entropy: null };
  const [logprobs, entropy] = split(columns, 1, [1, 1]);
  return { logprobs: logprobs!, entropy: entropy! };

  function scored(from: Value): Value {
    const frozen = frozenHead(parameters);
    if (frozen !== null && 4 * sizeOf(frozen.shape) > options.scoresBytes / 2) {
      return scoresByVocabulary(frozen, from, targets, options);
    }
    return lengths.length === 1 ? score(from, targets) : chunked(from);
  }

  /** Each log-probability depends on its own row alone, and a frozen head needs no gradient. */
  function hasGradients(): boolean {
    return !options.headTrained && !options.entropy;
  }

  function chunked(from: Value): Value {
    const classes = split(targets, 0, lengths);
    const parts = split(from, 0, lengths).map((rows, i) => {
      const build = (each: Value): Value => score(each, classes[i]!);
      if (!options.differentiated) return build(rows);
      return hasGradients() ? rowGradients(build, rows) : checkpoint(build, rows);
    });
    return concat(parts, { axis: 0 });
  }
}

/** Rows per chunk: at least one, and at least D for a trained head. */
function chunkRows(
  { vocabSize, hiddenSize }: Pick<DecoderConfig, "vocabSize" | "hiddenSize">,
  scoresBytes: number,
  headTrained: boolean,
): number {
  return Math.max(1, Math.floor(scoresBytes / (4 * vocabSize)), headTrained ? hiddenSize : 0);
}
