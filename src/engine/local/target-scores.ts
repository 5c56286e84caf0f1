import { barrier, checkpoint } from "../../autodiff/checkpoint.ts";
import { frozenLinear } from "../../autodiff/frozen.ts";
import { type Value, scalarLike } from "../../autodiff/graph.ts";
import { logSumExp, targetLogprob } from "../../autodiff/ops/composites.ts";
import {
  add,
  and,
  castTo,
  clamp,
  exp,
  greaterOrEqual,
  less,
  mul,
  neg,
  sub,
} from "../../autodiff/ops/elementwise.ts";
import { logSoftmax, softmax } from "../../autodiff/ops/nn.ts";
import { reduceSum } from "../../autodiff/ops/reduce.ts";
import { concat, equalChunks, split } from "../../autodiff/ops/shape.ts";
import { rowGradients } from "../../autodiff/row-gradients.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { type ParameterValues, frozenHead, vocabularyScores } from "../../models/decoder.ts";

/** Default limit on the bytes of vocabulary scores: 110 rows of 151 936. */
export const SCORES_BYTES = 64 * 2 ** 20;

/** How scores are divided where they are too large at once: the structure of a graph, whatever its number of targets. */
export interface ScorePlan {
  /** Equal pieces of the targets. */
  pieces: number;
  /** Rows of a 16-bit head that are widened at once; null: all. */
  stretch: number | null;
}

/**
 * How the scores of so many targets are divided.
 * @param options.frozen the head is stored in 16 bits. @param options.headTrained its gradient is computed.
 */
export function scorePlan(
  { vocabSize, hiddenSize }: Pick<DecoderConfig, "vocabSize" | "hiddenSize">,
  targets: number,
  {
    scoresBytes,
    frozen,
    headTrained,
  }: { scoresBytes: number; frozen: boolean; headTrained: boolean },
): ScorePlan {
  // Several tensors of a stretch are alive at once: scores, their softmax, the matrix before and after widening.
  const bytes = scoresBytes / 2;
  if (frozen && 4 * vocabSize * hiddenSize > bytes) {
    // Powers of two: few stretches, and so few graphs.
    const rows = Math.max(hiddenSize, 2 ** Math.ceil(Math.log2(targets)));
    return { pieces: 1, stretch: Math.max(1, Math.floor(bytes / (4 * rows))) };
  }
  const most = Math.max(1, Math.floor(scoresBytes / (4 * vocabSize)), headTrained ? hiddenSize : 0);
  return { pieces: Math.ceil(targets / most), stretch: null };
}

/**
 * Log-probability of each target and, if requested, entropy of the vocabulary distribution, in nats: [K, 1] each.
 * Scores [K, V] larger than `scoresBytes` are computed in pieces. Under a frozen head the forward pass also computes what the
 * backward pass needs (`rowGradients`); otherwise that recomputes the scores (`checkpoint`). A trained head's gradient [V, D] is passed over
 * once per piece, so pieces have at least D rows. A large 16-bit head: `scoresByVocabulary`.
 * @param hidden [K, D]. @param targets int32 [K, 1].
 */
export function targetScores(
  parameters: ParameterValues,
  hidden: Value,
  targets: Value,
  options: { plan: ScorePlan; entropy: boolean; differentiated: boolean; headTrained: boolean },
): { logprobs: Value; entropy: Value | null } {
  const score = (rows: Value, of: Value): Value => {
    const scores = vocabularyScores(parameters, rows);
    const logprobs = targetLogprob(scores, of);
    return options.entropy ? concat([logprobs, vocabularyEntropy(scores)], { axis: 1 }) : logprobs;
  };
  // The backward pass finishes the loss before it recomputes scores, and the scores before the layers.
  const border = (x: Value): Value => (options.differentiated ? barrier(x) : x);
  const { pieces, stretch } = options.plan;
  const [count = 0] = hidden.shape;
  const longest = Math.ceil(count / pieces);
  const lengths = Array.from({ length: Math.ceil(count / longest) }, (_, i) =>
    Math.min(longest, count - i * longest),
  );
  const whole = border(hidden);
  const columns = border(scored(whole)); // [K, 1 or 2]
  if (!options.entropy) return { logprobs: columns, entropy: null };
  const [logprobs, entropy] = split(columns, 1, [1, 1]);
  return { logprobs: logprobs!, entropy: entropy! };

  function scored(from: Value): Value {
    const frozen = frozenHead(parameters);
    if (frozen !== null && stretch !== null)
      return scoresByVocabulary(frozen, from, targets, { ...options, stretch });
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

/**
 * `targetScores` for a 16-bit head [V, D] too large for float32: all rows against one chunk of the vocabulary after the other. Chunks
 * combine by ln p = ln pₛ + ln wₛ and H = Σ wₛ (Hₛ − ln wₛ), with wₛ the probability of chunk s. @returns [K, 1], or [K, 2] with the entropy.
 */
function scoresByVocabulary(
  head: Value,
  hidden: Value,
  targets: Value,
  options: { stretch: number; entropy: boolean; differentiated: boolean },
): Value {
  const [size = 0] = head.shape;
  // As floats, which are exact up to 2²⁴: on a GPU, integer arithmetic would run on the CPU.
  const wanted = castTo(targets, "float32");
  const columns = options.entropy ? 3 : 2;
  const found = equalChunks(size, options.stretch).map(([from, to]) => {
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

function within(x: Value, from: number, to: number): Value {
  const [low, high] = [scalarLike(x, from), scalarLike(x, to)];
  return castTo(and([greaterOrEqual([x, low]), less([x, high])]), "float32");
}

function vocabularyEntropy(scores: Value): Value {
  const logs = logSoftmax([scores], { axis: -1 });
  return neg([reduceSum(mul([softmax([scores], { axis: -1 }), logs]), [1])]);
}
