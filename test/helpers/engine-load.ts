import type { EngineLoad } from "../../src/engine/local/forecast.ts";
import { tinyConfig } from "./tiny-model.ts";

/** A load whose forecast takes milliseconds. */
export const smallLoad: EngineLoad = {
  config: tinyConfig,
  lora: null,
  device: "cpu",
  workers: 1,
  slots: 2,
  frozen: null,
  lossless: null,
  sampling: "float32",
  microBatchTokens: 512,
  recompute: false,
  rowTokens: 100,
  scoredShare: 0.5,
  loss: { name: "policy-gradient", options: {} },
  references: 0,
  samples: true,
  sequences: 8,
  scores: null,
  critic: null,
};

/** A peak of some 800 MB: 19 million parameters, four rows of 256 tokens together, eight slots. */
export const largeLoad: EngineLoad = {
  ...smallLoad,
  config: {
    ...tinyConfig,
    vocabSize: 4096,
    hiddenSize: 512,
    layers: 6,
    heads: 8,
    kvHeads: 4,
    headDim: 64,
    intermediateSize: 1280,
  },
  slots: 8,
  microBatchTokens: 1024,
  rowTokens: 240,
  scoredShare: 1,
  sequences: 4,
};
