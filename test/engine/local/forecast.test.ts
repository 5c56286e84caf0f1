import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { largestFitting } from "../../../src/engine/local/fitting.ts";
import { type EngineLoad, forecastMemory } from "../../../src/engine/local/forecast.ts";
import { targetModules } from "../../../src/models/lora/lora.ts";
import { parameterCount, parameterSpecs, totalSize } from "../../../src/models/parameters.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();

const load: EngineLoad = {
  ...{ config: tinyConfig, lora: null, device: "cpu", workers: 1, slots: 2 },
  ...{ frozen: null, lossless: null },
  ...{ microBatchTokens: 512, recompute: false, rowTokens: 100, scoredShare: 0.5 },
  ...{ loss: { name: "policy-gradient", options: {} }, references: 0, samples: true, sequences: 8 },
  ...{ rescores: false, graphs: null },
};

const partOf = (name: string, given: EngineLoad): number =>
  forecastMemory(given).parts.find((part) => part.name === name)?.bytes ?? 0;

/** A peak of some 800 MB: 19 million parameters, four rows of 256 tokens together, eight slots. */
const large: EngineLoad = {
  ...load,
  config: {
    ...tinyConfig,
    ...{ vocabSize: 4096, hiddenSize: 512, layers: 6, heads: 8, kvHeads: 4, headDim: 64 },
    intermediateSize: 1280,
  },
  ...{ slots: 8, microBatchTokens: 1024, rowTokens: 240, scoredShare: 1, sequences: 4 },
};

/** Samples to the end of the cache and trains two steps in a process of its own. @returns its largest resident memory, bytes. */
async function measuredPeak(model: string): Promise<number> {
  const { slots, microBatchTokens, rowTokens } = large;
  // A file, because worker threads do not start from a script on the command line.
  const script = join(folder, "measure.mjs");
  const built = new URL("../../../dist/engine/local/local-engine.js", import.meta.url).href;
  const text = `
    import { readFileSync } from "node:fs";
    import { openLocalEngine } from ${JSON.stringify(built)};
    const engine = await openLocalEngine(${JSON.stringify({ model, workers: 1, slots, microBatchTokens })});
    const ids = Array.from({ length: ${rowTokens} + 1 }, (_, i) => (7 * i) % 250);
    const sample = (promptIds) => engine.sample({
      promptIds, maxTokens: 2, stopIds: [], stopStrings: [], temperature: 1, topP: 1, topK: 0, seed: 1, sequence: null,
    });
    for (let length = 50; length < ${rowTokens}; length += 62) await sample(ids.slice(0, length));
    await sample(ids.slice(0, ${rowTokens} - 2));
    const numbers = (value) => ids.slice(1).map(() => value);
    const row = { inputs: ids.slice(0, -1), targets: ids.slice(1),
      fields: { weights: numbers(0.001), advantages: numbers(1), oldLogprobs: numbers(-6), refLogprobs: numbers(-6) } };
    for (const step of [1, 2]) {
      await engine.forwardBackward([row, row, row, row], { name: "policy-gradient", options: {} });
      await engine.optimStep({ learningRate: 1e-5 * step, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, gradClipNorm: 1 });
    }
    console.log(1024 * Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]));
    await engine.close();
  `;
  await writeFile(script, text);
  // Freed buffers go back at once: how many the allocator would keep differs from run to run by 15 %.
  const env = { ...process.env, MALLOC_MMAP_THRESHOLD_: "131072" };
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  return Number(stdout.trim());
}

describe("the memory forecast", () => {
  it.skipIf(process.platform !== "linux")(
    "is within 15 % of what a process takes that samples and trains",
    { timeout: 60_000 },
    async () => {
      const model = await writeTinyModel(join(folder, "large"), large.config, 1);
      const measured = await measuredPeak(model);
      const ratio = forecastMemory(large).total / measured;
      expect(ratio).toBeGreaterThan(0.85);
      expect(ratio).toBeLessThan(1.15);
    },
  );

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

  it("keeps a cache of both keys and values for every slot, up to the longest sequence", () => {
    // 2 × 2 layers × 2 slots × 2 heads × 8 × 128 positions.
    expect(partOf("key/value cache", load)).toBe(4 * 2 * 2 * 2 * 2 * 8 * 128);
    expect(partOf("shorter key/value cache before it", load)).toBe(4 * 2 * 2 * 2 * 2 * 8 * 64);
    expect(partOf("key/value cache", { ...load, samples: false })).toBe(4 * 2 * 2 * 2 * 2 * 8 * 64);
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
