import { formatBytes } from "../base/format.ts";
import type { DecoderConfig } from "../models/config.ts";
import { parameterCount } from "../models/parameters.ts";

/** What a card of a machine holds while another trainer trains all weights, bytes. Computed from shapes; no card was asked. */
export interface CardForecast {
  /** Weights, gradients and AdamW's two moments, 32 bits each, in equal shares on all cards. */
  states: number;
  /** The layers that are gathered at once, 16 bits. */
  gathered: number;
  /** Inputs of all layers, which are computed again in the backward pass, and one layer's own. */
  activations: number;
  /** Scores of all tokens at once: 16 bits, their gradient, and 32 bits for the softmax. */
  scores: number;
  training: number;
  /** Weights of the sampling engine, 16 bits; what is left of its share is for keys and values. */
  sampling: number;
}

interface Cards {
  gpus: number;
  /** Tokens of one pass. */
  tokens: number;
}

/** Layers that are gathered while one computes: itself, and the next. */
const AT_ONCE = 2;

/** @param config of the policy. */
export function cardForecast(config: DecoderConfig, { gpus, tokens }: Cards): CardForecast {
  const { layers, hiddenSize, intermediateSize, vocabSize } = config;
  const parameters = parameterCount(config);
  const embeddings = vocabSize * hiddenSize * (config.tiedEmbeddings ? 1 : 2);
  const layer = (parameters - embeddings) / layers;
  const states = (16 * parameters) / gpus;
  const gathered = 2 * Math.max(AT_ONCE * layer, embeddings);
  const own = tokens * (3 * intermediateSize + 10 * hiddenSize);
  const activations = 2 * (tokens * hiddenSize * layers + own);
  const scores = tokens * vocabSize * (2 + 2 + 4);
  return {
    states,
    gathered,
    activations,
    scores,
    training: states + gathered + activations + scores,
    sampling: 2 * parameters,
  };
}

/** Memory of cards that are sold, bytes. */
const SIZES = [24, 32, 40, 48, 80, 96, 141, 192].map((size) => size * 1e9);

/** Share of a card that a forecast may fill. */
const FILLED = 0.9;

/** The forecast in a sentence. */
export function forecastText({
  states,
  activations,
  scores,
  training,
  sampling,
}: CardForecast): string {
  const needed = Math.max(training, sampling);
  const card = SIZES.find((size) => needed <= FILLED * size);
  const fits =
    card === undefined
      ? "no card has so much: use more cards, or adapters (policy.lora)"
      : `a card of ${formatBytes(card)} holds it`;
  return `Computed, not measured: each card needs ${formatBytes(training)} to train (states ${formatBytes(states)}, activations ${formatBytes(activations)}, scores ${formatBytes(scores)}) and ${formatBytes(sampling)} for weights to sample; ${fits}.`;
}
