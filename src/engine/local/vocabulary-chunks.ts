import { checkpoint } from "../../autodiff/checkpoint.ts";
import { frozenLinear } from "../../autodiff/frozen.ts";
import { scalarLike, type Value } from "../../autodiff/graph.ts";
import { logSumExp, targetLogprob } from "../../autodiff/ops/composites.ts";
import {
  add,
  castTo,
  clamp,
  exp,
  greaterOrEqual,
  less,
  mul,
  neg,
  sub,
  and,
} from "../../autodiff/ops/elementwise.ts";
import { logSoftmax, softmax } from "../../autodiff/ops/nn.ts";
import { reduceSum } from "../../autodiff/ops/reduce.ts";
import { concat, split } from "../../autodiff/ops/shape.ts";
import { equalChunks } from "../../autodiff/ops/shape.ts";

/**
 * `targetScores` for a 16-bit output matrix that is too large for float32: all rows are scored against one chunk of the vocabulary
 * after the other, and each pass widens each chunk once. A chunk gives its log-sum-exp, the target's log-probability
 * within the chunk and, if requested, its entropy. All chunks combine by
 * ln p = ln pₛ + ln wₛ and H = Σ wₛ (Hₛ − ln wₛ), with wₛ the probability of chunk s.
 *
 * @param head [V, D], as stored.
 * @param hidden [K, D].
 * @param targets int32 [K, 1].
 * @returns [K, 1], or [K, 2] with the entropy.
 */
export function scoresByVocabulary(
  head: Value,
  hidden: Value,
  targets: Value,
  options: { scoresBytes: number; entropy: boolean; differentiated: boolean },
): Value {
  const [size, width] = head.shape as readonly [number, number];
  // Several tensors of this size are alive at once: scores, their softmax, the matrix before and after widening.
  const bytes = options.scoresBytes / 2;
  const longest = Math.floor(bytes / (4 * Math.max(width, hidden.shape[0]!)));
  // As floats, which are exact up to 2²⁴: on a GPU, integer arithmetic would run on the CPU.
  const wanted = castTo(targets, "float32");
  const columns = options.entropy ? 3 : 2;
  const found = equalChunks(size, Math.max(1, longest)).map(([from, to]) => {
    const inside = within(wanted, from, to);
    const place = castTo(clamp(sub([wanted, scalarLike(wanted, from)]), 0, to - from - 1), "int32");
    const build = (rows: Value): Value => {
      const scores = frozenLinear(rows, head, [from, to]);
      const own = mul([inside, targetLogprob(scores, place)]);
      const parts = [logSumExp(scores), own];
      if (options.entropy) parts.push(vocabularyEntropy(scores));
      return concat(parts, { axis: 1 });
    };
    const scored = options.differentiated ? checkpoint(build, hidden) : build(hidden);
    const [sum, own, entropy] = split(
      scored,
      1,
      Array.from({ length: columns }, () => 1),
    );
    return { inside, sum: sum!, own: own!, entropy };
  });
  const joined = (values: readonly Value[]): Value => concat(values, { axis: 1 });
  const logWeights = logSoftmax([joined(found.map(({ sum }) => sum))], { axis: -1 }); // [K, S]
  const inside = joined(found.map(({ inside }) => inside));
  const own = joined(found.map(({ own }) => own));
  const logprobs = reduceSum(add([own, mul([inside, logWeights])]), [1]);
  if (!options.entropy) return logprobs;
  const entropies = joined(found.map(({ entropy }) => entropy!));
  const entropy = reduceSum(mul([exp([logWeights]), sub([entropies, logWeights])]), [1]);
  return joined([logprobs, entropy]);
}

/** 1 where from ≤ x < to, else 0. */
function within(x: Value, from: number, to: number): Value {
  const [low, high] = [scalarLike(x, from), scalarLike(x, to)];
  return castTo(and([greaterOrEqual([x, low]), less([x, high])]), "float32");
}

/** −Σ p ln p along the last axis: [K, V] → [K, 1]. */
export function vocabularyEntropy(scores: Value): Value {
  const logs = logSoftmax([scores], { axis: -1 });
  return neg([reduceSum(mul([softmax([scores], { axis: -1 }), logs]), [1])]);
}
