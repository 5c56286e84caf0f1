import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { forecastMemory } from "../../../src/engine/local/forecast.ts";
import { largeLoad as large } from "../../helpers/engine-load.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();

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
    // Rows that begin alike would be computed once.
    const row = (first) => ({ inputs: [first, ...ids.slice(1, -1)], targets: ids.slice(1),
      fields: { weights: numbers(0.001), advantages: numbers(1), oldLogprobs: numbers(-6), refLogprobs: numbers(-6) } });
    for (const step of [1, 2]) {
      await engine.forwardBackward([1, 2, 3, 4].map(row), { name: "policy-gradient", options: {} });
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
});
