import type { DecoderConfig } from "../../models/config.ts";
import type { LoraConfig } from "../../models/lora/lora.ts";
import type { MicroBatch } from "./batching.ts";
import { chunkLengths, chunkRows, SCORES_BYTES } from "./target-scores.ts";

const FLOAT = 4;

/** A training graph whose memory is asked for. */
export interface StepShape extends Pick<MicroBatch, "batch" | "length" | "scored"> {
  config: DecoderConfig;
  lora: LoraConfig | null;
  recompute: boolean;
  scoresBytes?: number;
}

/**
 * Bytes that one run of a training graph takes at its peak on the processor, beside what goes in and comes out: a forecast, made of
 * counts of tensors.
 *
 * The runtime gives a dead tensor's memory to the next tensor of the same shape and otherwise keeps it until the last one of that shape;
 * so each shape counts with the most of it that ever live together, whenever that is. With N = batch · length tokens, a layer has
 * attention weights [N, heads · length] (twice forward, three times backward), rows of the inner size (3 and 6), of the hidden size,
 * of all query heads and of all key/value heads. Kept from forward to backward are, with `recompute`, one row of the hidden size per
 * layer; without: the attention weights, four inner rows (σ, gate · σ, up, their product), four hidden rows (both inputs of norms and
 * both results), three of query heads (rotated, result, result by token), two of key/value heads, and the adapters' inner rows.
 * Scores count twice; a trained head once or twice with its gradient [V, D].
 *
 * Within 8 % of the runtime's own plan on 42 shapes (2026-11-21, onnxruntime 1.30); resident memory is up to 18 % more, since small
 * buffers come and go in the process's heap.
 */
export function stepBytes(step: StepShape): number {
  const { config, batch, length, lora, recompute } = step;
  const tokens = FLOAT * batch * length;
  const ranks = lora === null ? 0 : 7 * tokens * lora.rank;
  const norms = config.qkNorm ? 1 : 0;
  const widths = [
    ...[config.heads * length, config.intermediateSize, config.hiddenSize],
    ...[config.heads * config.headDim, config.kvHeads * config.headDim],
  ];
  // How many of each of those widths.
  const rows = (...counts: number[]): number =>
    widths.reduce((sum, width, i) => sum + counts[i]! * width * tokens, 0);
  const kept = recompute ? rows(0, 0, 1, 0, 0) : rows(1, 4, 4, 3 + norms, 2 + norms) + ranks;
  const forward = recompute ? rows(2, 3, 3, 4, 4) : rows(1, 0, 2, 1, 1);
  const backward = recompute
    ? rows(3, 6, 6, 6 + norms, 8 + norms) + ranks
    : rows(2, 2, lora === null ? 8 : 6, 2, 2);
  const head = headBytes(step);
  const layers = config.layers * kept;
  return Math.max(layers + backward + head.below, layers + forward + head.at, head.end);
}

/** Bytes for scores and the head's gradient: while they are computed, while the layers are, and at the end. */
function headBytes(step: StepShape): { at: number; below: number; end: number } {
  const { config, scored, lora, scoresBytes = SCORES_BYTES } = step;
  const lengths = chunkLengths(scored, chunkRows(config, scoresBytes, lora === null));
  // Chunks of two lengths are two shapes.
  const longest = [...new Set(lengths)].reduce((sum, each) => sum + each, 0);
  const scores = FLOAT * longest * config.vocabSize;
  const gradient = lora === null ? FLOAT * config.vocabSize * config.hiddenSize : 0;
  // Sums of the gradient that are not yet the result: with a tied head the embedding's part comes last of all.
  const sums = Math.min(lengths.length - (config.tiedEmbeddings ? 0 : 1), 2);
  const at =
    lengths.length > 2
      ? 2 * scores + 2 * gradient
      : Math.max(2 * scores + Math.max(0, sums - 1) * gradient, scores + sums * gradient);
  const below = Math.min(sums, config.tiedEmbeddings ? 2 : 1) * gradient;
  return { at: at + 2 * FLOAT * scored * config.hiddenSize, below, end: 2 * gradient };
}
