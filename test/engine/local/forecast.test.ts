import { describe, expect, it } from "vitest";
import { largestFitting } from "../../../src/engine/local/fitting.ts";
import { type EngineLoad, forecastMemory } from "../../../src/engine/local/forecast.ts";
import { targetModules } from "../../../src/models/lora/target-modules.ts";
import { parameterCount, parameterSpecs, totalSize } from "../../../src/models/parameters.ts";
import { largeLoad as large, smallLoad as load } from "../../helpers/engine-load.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

const partOf = (name: string, given: EngineLoad): number =>
  forecastMemory(given).parts.find((part) => part.name === name)?.bytes ?? 0;

/** A load whose sampling takes more than its training. */
const sampled = { ...load, microBatchTokens: 100, scoredShare: 0.1 };

describe("the memory forecast", () => {
  it("adds its parts up", () => {
    const { parts, total } = forecastMemory(load);
    expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(total);
  });

  it("counts two float32 moments and one gradient of everything that one worker trains", () => {
    const bytes = 4 * parameterCount(tinyConfig);
    expect(partOf("optimiser's moments", load)).toBe(2 * bytes);
    expect(partOf("gradients", load)).toBe(bytes);
  });

  it("counts gradients of every worker twice, and the weights that they share", () => {
    const bytes = 4 * parameterCount(tinyConfig);
    expect(partOf("gradients", { ...load, workers: 2 })).toBe(2 * bytes + 3 * bytes);
  });

  it("keeps a whole model for a reference, and of adapters their numbers alone", () => {
    const grown = (given: EngineLoad): number =>
      partOf("weights", { ...given, references: 1 }) - partOf("weights", given);
    const lora = { rank: 2, alpha: 4, rslora: false, targets: ["q_proj"] };
    expect(grown({ ...load, device: "webgpu" })).toBe(4 * parameterCount(tinyConfig));
    // Two layers of A [2, 32] and B [32, 2].
    expect(grown({ ...load, lora })).toBe(4 * 2 * (64 + 64));
  });

  it("counts two bytes for each number of a frozen matrix, which is there once, and four for vectors", () => {
    const lora = { rank: 2, alpha: 4, rslora: false, targets: ["q_proj"] };
    const vectors = totalSize(parameterSpecs(tinyConfig).filter(({ decays }) => !decays));
    const matrices = parameterCount(tinyConfig) - vectors;
    const adapters = 4 * 2 * (64 + 64);
    const frozen = "bfloat16";
    expect(partOf("weights", { ...load, lora })).toBe(8 * matrices + 4 * vectors + adapters);
    expect(partOf("weights", { ...load, lora, frozen })).toBe(
      2 * matrices + 4 * vectors + adapters,
    );
    expect(forecastMemory({ ...load, frozen })).toEqual(forecastMemory(load));
  });

  it("counts one byte for each number of a matrix that is sampled in 8 bits, and none for a critic", () => {
    const matrices = totalSize(parameterSpecs(tinyConfig).filter(({ decays }) => decays));
    const sampling = "int8";
    // As this process holds them, and as the runtime packs them.
    for (const name of ["matrices of 8 bits", "packed matrices"]) {
      expect(partOf(name, { ...sampled, sampling })).toBe(matrices);
    }
    const own = {
      ...load,
      config: { ...tinyConfig, tiedEmbeddings: false },
      critic: "own" as const,
    };
    expect(partOf("critic", { ...own, sampling })).toBe(partOf("critic", own));
  });

  it("keeps a cache of both keys and values for the sequences decoded and as many that wait, up to the longest", () => {
    // 2 × 2 layers × 2 · 2 slots × 2 heads × 8 × 128 positions.
    expect(partOf("key/value cache", sampled)).toBe(4 * 2 * 2 * 4 * 2 * 8 * 128);
    expect(partOf("an array of it before it grew", sampled)).toBe(4 * 2 * 2 * 8 * 128);
    expect(partOf("key/value cache", { ...load, samples: false })).toBe(4 * 2 * 2 * 4 * 2 * 8 * 64);
  });
});

describe("the largest load that fits", () => {
  const wide = { ...load, workers: 2, microBatchTokens: 4096, sequences: 1000 };

  it("is the load itself where it fits", () => {
    expect(largestFitting(wide, Infinity)?.load).toEqual(wide);
  });

  it("has smaller micro-batches before anything else changes", () => {
    const fitting = largestFitting(wide, forecastMemory(wide).total - 1);
    expect(fitting?.load).toEqual({ ...wide, microBatchTokens: 2048 });
  });

  it("computes attention again before whole layers", () => {
    // A few long rows: of many the larger compiled graphs would take what the activations leave.
    const config = { ...large.config, maxPositions: 1024 };
    const one = {
      ...large,
      config,
      workers: 1,
      rowTokens: 1024,
      microBatchTokens: 1024,
      sequences: 2,
    };
    const selective = { ...one, recompute: "selective" as const };
    const budget = forecastMemory(selective).total;
    expect(budget).toBeLessThan(forecastMemory(one).total);
    expect(largestFitting(one, budget)?.load).toEqual(selective);
    expect(largestFitting(one, budget - 1)?.load).toEqual({ ...one, recompute: true });
  });

  it("has frozen weights in 16 bits before workers are fewer, where that rounds nothing", () => {
    const lora = { rank: 2, alpha: 4, rslora: false, targets: ["q_proj"] };
    const least = { ...large, workers: 2, microBatchTokens: 240, recompute: true, lora };
    const budget = forecastMemory({ ...least, frozen: "float16" }).total;
    expect(budget).toBeLessThan(forecastMemory(least).total);
    const fitting = largestFitting({ ...least, lossless: "float16" }, budget);
    expect(fitting?.load).toMatchObject({ workers: 2, frozen: "float16" });
    expect(largestFitting(least, budget)?.load).toMatchObject({ workers: 1, frozen: null });
  });

  it("fits whatever budget it is found for", () => {
    const least = { ...wide, workers: 1, slots: 1, recompute: true, microBatchTokens: 100 };
    for (const budget of [forecastMemory(least).total, 260e6, 300e6]) {
      expect(largestFitting(wide, budget)?.forecast.total).toBeLessThanOrEqual(budget);
    }
  });

  it("does not exist where the weights alone are more", () => {
    const lora = { rank: 16, alpha: 32, rslora: false, targets: targetModules };
    expect(largestFitting({ ...wide, lora }, 1000)).toBeNull();
  });
});
