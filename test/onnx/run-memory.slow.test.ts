import { describe, expect, it } from "vitest";
import type { DecoderConfig } from "../../src/models/config.ts";
import { targetModules } from "../../src/models/lora/target-modules.ts";
import { forecastPeak, stepPeak, type StepShape } from "../helpers/step-peak.ts";
import { tinyConfig } from "../helpers/tiny-model.ts";

const config: DecoderConfig = {
  ...tinyConfig,
  vocabSize: 4000,
  hiddenSize: 128,
  layers: 6,
  heads: 8,
  kvHeads: 4,
  headDim: 16,
  intermediateSize: 512,
  maxPositions: 1024,
};
const lora = { rank: 8, alpha: 16, rslora: false, targets: targetModules };
const shape: StepShape = {
  config,
  batch: 2,
  length: 512,
  scored: 1024,
  lora: null,
  recompute: false,
};

/** Needs the build, as `npm test` makes it. */
describe.skipIf(process.platform !== "linux")("the forecast of a run's memory", () => {
  it.each<[string, Partial<StepShape>]>([
    ["all parameters", {}],
    ["all parameters, layers computed again", { recompute: true }],
    ["adapters", { lora }],
    ["adapters, attention and gates computed again", { lora, recompute: "selective" }],
    [
      "adapters, layers computed again, scores in chunks",
      { lora, recompute: true, scoresBytes: 4e6 },
    ],
    ["adapters over float16", { lora, transposed: false, frozen: "float16" }],
    [
      "adapters over bfloat16, layers computed again, scores by stretches of the vocabulary",
      { lora, transposed: false, frozen: "bfloat16", recompute: true, scoresBytes: 2e6 },
    ],
    ["a head of its own", { config: { ...config, tiedEmbeddings: false, vocabSize: 24_000 } }],
  ])("is within 15 % of what a process takes: %s", async (_, own) => {
    const step = { ...shape, ...own };
    const measured = await stepPeak(step);
    expect(Math.abs(forecastPeak(step) / measured - 1)).toBeLessThan(0.15);
  });
});
