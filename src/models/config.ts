/**
 * Configuration of a decoder: pre-norm, rotary positions, grouped-query attention, SwiGLU, and the features in which families
 * differ. Graphs use the features, never a family's name.
 */
export interface DecoderConfig extends DecoderFeatures {
  /** Registered name of the architecture that writes this `config.json` (its `model_type`). */
  architecture: string;
  vocabSize: number;
  hiddenSize: number;
  layers: number;
  heads: number;
  /** Key/value heads; a divisor of `heads`. */
  kvHeads: number;
  /** Even, because rotary positions rotate its two halves. */
  headDim: number;
  intermediateSize: number;
  normEpsilon: number;
  ropeTheta: number;
  /** Whether the output matrix is the embedding matrix. */
  tiedEmbeddings: boolean;
  /** Longest sequence, in tokens. */
  maxPositions: number;
  /**
   * A matrix [1, D] that gives each position a value, as a critic has: beside the output matrix, or instead of it. Absent: none. With
   * adapters it belongs to these (`LoraConfig.valueHead`).
   */
  valueHead?: ValueHead;
}

export const valueHeads = ["beside", "instead"] as const;
export type ValueHead = (typeof valueHeads)[number];

/** Differences between decoder families. */
export interface DecoderFeatures {
  /** Biases on the query, key and value projections. */
  qkvBias: boolean;
  /** RMSNorm over each head of queries and keys, before rotation, with a learned scale [headDim]. */
  qkNorm: boolean;
  /** null: every token sees all earlier ones. */
  slidingWindow: SlidingWindow | null;
  /** null: unscaled powers of `ropeTheta`. */
  ropeScaling: RopeScaling | null;
}

/** Layers from `fromLayer` on see only the last `size` tokens, including the token itself. */
export interface SlidingWindow {
  size: number;
  fromLayer: number;
}

/** Scaling of rotary frequencies for contexts longer than the original one. */
export type RopeScaling =
  | { type: "linear"; factor: number }
  | {
      type: "llama3";
      factor: number;
      /** Waves longer than `originalPositions` / this are slowed by `factor`. */
      lowFrequencyFactor: number;
      /** Waves shorter than `originalPositions` / this stay; those in between are interpolated. */
      highFrequencyFactor: number;
      originalPositions: number;
    };

/** The default features: Llama 2. */
export const plainFeatures: DecoderFeatures = {
  qkvBias: false,
  qkNorm: false,
  slidingWindow: null,
  ropeScaling: null,
};

/** How many tokens, including itself, a token of this layer sees; Infinity without a window. */
export function windowOf({ slidingWindow }: DecoderConfig, layer: number): number {
  return slidingWindow !== null && layer >= slidingWindow.fromLayer ? slidingWindow.size : Infinity;
}
