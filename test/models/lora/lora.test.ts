import { describe, expect, it } from "vitest";
import { plainFeatures, type DecoderConfig } from "../../../src/models/config.ts";
import {
  initialAdapter,
  loraScale,
  loraSpecs,
  mergeAdapter,
  trainedSpecs,
  type LoraConfig,
} from "../../../src/models/lora/lora.ts";
import { targetModules } from "../../../src/models/lora/target-modules.ts";
import { parameterCount, parameterSpecs, tensorsOf } from "../../../src/models/parameters.ts";

const config: DecoderConfig = {
  ...plainFeatures,
  architecture: "llama",
  vocabSize: 7,
  hiddenSize: 4,
  layers: 2,
  heads: 2,
  kvHeads: 1,
  headDim: 2,
  intermediateSize: 6,
  normEpsilon: 1e-5,
  ropeTheta: 500,
  tiedEmbeddings: true,
  maxPositions: 16,
};
const lora: LoraConfig = { rank: 2, alpha: 4, rslora: false, targets: targetModules };

describe("loraScale", () => {
  it("is alpha over the rank, or over its root", () => {
    expect(loraScale({ ...lora, rank: 16, alpha: 32 })).toBe(2);
    expect(loraScale({ ...lora, rank: 16, alpha: 32, rslora: true })).toBe(8);
  });
});

describe("loraSpecs", () => {
  it("gives each linear layer of a module's name an A [r, in] and a B [out, r]", () => {
    const shapes = loraSpecs(config, { ...lora, targets: ["up_proj"] }).map((each) => [
      each.name,
      each.shape,
    ]);
    expect(shapes).toEqual([
      ["model.layers.0.mlp.up_proj.lora_A.weight", [2, 4]],
      ["model.layers.0.mlp.up_proj.lora_B.weight", [6, 2]],
      ["model.layers.1.mlp.up_proj.lora_A.weight", [2, 4]],
      ["model.layers.1.mlp.up_proj.lora_B.weight", [6, 2]],
    ]);
    expect(loraSpecs(config, lora)).toHaveLength(2 * 7 * config.layers);
  });

  it("takes the end of a path, whole words only, as PEFT does", () => {
    const count = (target: string): number =>
      loraSpecs(config, { ...lora, targets: [target] }).length;
    expect(count("layers.1.self_attn.q_proj")).toBe(2);
    expect(count("model.layers.1.self_attn.q_proj")).toBe(2);
    expect(count("proj")).toBe(0);
    expect(count("embed_tokens")).toBe(0);
  });

  it("is what is trained where there are adapters", () => {
    expect(trainedSpecs(config, lora)).toEqual(loraSpecs(config, lora));
    expect(trainedSpecs(config, null)).toEqual(parameterSpecs(config));
  });
});

describe("initialAdapter", () => {
  it("draws A evenly within 1/√in and leaves B zero", () => {
    const { weights } = initialAdapter(config, { ...lora, rank: 64 }, 1);
    for (const { name, shape, data } of tensorsOf(
      loraSpecs(config, { ...lora, rank: 64 }),
      weights,
    )) {
      if (name.endsWith("lora_B.weight")) {
        expect(data.every((each) => each === 0)).toBe(true);
        continue;
      }
      const bound = 1 / Math.sqrt(shape[1]!);
      const largest = Math.max(...data.map(Math.abs));
      expect(largest).toBeLessThanOrEqual(bound);
      expect(largest).toBeGreaterThan(0.95 * bound);
      const variance = data.reduce((sum, each) => sum + each * each, 0) / data.length;
      // Of an even distribution: a third of the bound's square.
      expect(variance / (bound * bound)).toBeCloseTo(1 / 3, 1);
    }
  });

  it("is the same for the same seed only", () => {
    const bytes = (seed: number): Float32Array => initialAdapter(config, lora, seed).weights;
    expect(bytes(3)).toEqual(bytes(3));
    expect(bytes(3)).not.toEqual(bytes(4));
  });
});

describe("mergeAdapter", () => {
  it("adds scale · B A to the layers that have an adapter", () => {
    const own = { ...lora, rank: 2, alpha: 1, targets: ["layers.1.self_attn.k_proj"] };
    // A [2, 4], then B [2, 2]; scale ½.
    const weights = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 1, -1, 0, 2);
    const flat = new Float32Array(parameterCount(config)).fill(10);
    mergeAdapter(config, flat, { lora: own, weights });
    for (const { name, data } of tensorsOf(parameterSpecs(config), flat)) {
      const adapted = name === "model.layers.1.self_attn.k_proj.weight";
      expect([...data]).toEqual(adapted ? [8, 8, 8, 8, 15, 16, 17, 18] : [...data].fill(10));
    }
  });
});
