import { describe, expect, it } from "vitest";
import { stepPeak, type StepShape } from "../../helpers/step-peak.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

/** Measured in child processes, which run dist/. */
describe.skipIf(process.platform !== "linux")("the memory of a step", () => {
  const step: StepShape = {
    config: { ...tinyConfig, vocabSize: 16_000, layers: 10, heads: 8, maxPositions: 512 },
    batch: 1,
    length: 512,
    scored: 512,
    lora: null,
    recompute: false,
  };

  // A layer's attention weights are 8 heads × 512² × 4 bytes × 10/16 = 5 MB: ten of sixteen pairs of blocks, the others are invisible. The
  // scores are 512 × 16 000 × 4 bytes = 31 MB.
  it("falls by nine of ten layers' activations, and by the scores", async () => {
    const plain = await stepPeak(step);
    const again = await stepPeak({ ...step, recompute: true });
    expect(plain - again).toBeGreaterThan(9 * 5 * 2 ** 20);
    const chunked = await stepPeak({ ...step, recompute: true, scoresBytes: 4 * 2 ** 20 });
    expect(again - chunked).toBeGreaterThan(31 * 2 ** 20);
  });

  it("falls by nine of ten layers' attention weights where they alone are computed again", async () => {
    const plain = await stepPeak(step);
    const again = await stepPeak({ ...step, recompute: "selective" });
    expect(plain - again).toBeGreaterThan(9 * 5 * 2 ** 20);
  });

  // Ten layers of 32 MB as float32, of which the largest matrices, of three shapes, are 6, 6 and 2 MB.
  // Of bfloat16 there is a copy beside it, as that type.
  it.each([
    ["float16", 32],
    ["bfloat16", 48],
  ] as const)(
    "has no more of frozen %s weights as float32 than a layer's, however many layers there are",
    async (frozen, megabytes) => {
      const wide = { hiddenSize: 1024, intermediateSize: 1536, headDim: 128, kvHeads: 4 };
      const narrow = {
        config: { ...step.config, ...wide, vocabSize: 300 },
        transposed: false,
        batch: 1,
        length: 32,
        scored: 32,
        recompute: false,
        lora: { rank: 3, alpha: 6, rslora: false, targets: ["q_proj", "v_proj"] as const },
      };
      const plain = await stepPeak(narrow);
      const widened = await stepPeak({ ...narrow, frozen });
      expect(widened - plain).toBeLessThan(megabytes * 2 ** 20);
    },
  );
});
