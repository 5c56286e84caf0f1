/**
 * What a decoder is built from: pre-norm, rotary positions, grouped-query attention, SwiGLU, and the features by which families
 * differ. Graphs read features, never a family's name.
 */
export interface DecoderConfig extends DecoderFeatures {
  /** Registered name of the architecture that writes this as `config.json`; `model_type` there. */
  architecture: string;
  vocabSize: number;
  hiddenSize: number;
  layers: number;
  heads: number;
  /** Key/value heads; a divisor of `heads`. */
  kvHeads: number;
  /** Even: rotary positions turn its two halves against each other. */
  headDim: number;
  intermediateSize: number;
  normEpsilon: number;
  ropeTheta: number;
  /** The output matrix is the embedding matrix. */
  tiedEmbeddings: boolean;
  /** Longest sequence, in tokens. */
  maxPositions: number;
}

/** Where families of decoders differ. */
export interface DecoderFeatures {
  /** Biases on the query, key and value projections. */
  qkvBias: boolean;
  /** Root-mean-square norm over each head of queries and keys, before rotation, with a learned scale [headDim]. */
  qkNorm: boolean;
  /** null: every token sees all before it. */
  slidingWindow: SlidingWindow | null;
  /** null: frequencies are the plain powers of `ropeTheta`. */
  ropeScaling: RopeScaling | null;
}

/** Layers from `fromLayer` on see the last `size` tokens only, a token itself included. */
export interface SlidingWindow {
  size: number;
  fromLayer: number;
}

/** How rotary frequencies are slowed for contexts longer than those first trained on. */
export type RopeScaling =
  | { type: "linear"; factor: number }
  | {
      type: "llama3";
      factor: number;
      /** Waves longer than `originalPositions` over this are slowed by `factor`. */
      lowFrequencyFactor: number;
      /** Waves shorter than `originalPositions` over this stay; those between are slowed by degrees. */
      highFrequencyFactor: number;
      originalPositions: number;
    };

/** None of the features: Llama 2. */
export const plainFeatures: DecoderFeatures = {
  qkvBias: false,
  qkNorm: false,
  slidingWindow: null,
  ropeScaling: null,
};

/** How many tokens, itself included, a token of this layer sees; Infinity for all before it. */
export function windowOf({ slidingWindow }: DecoderConfig, layer: number): number {
  return slidingWindow !== null && layer >= slidingWindow.fromLayer ? slidingWindow.size : Infinity;
}
