import { join } from "node:path";
import { expect, it } from "vitest";
import { openLocalEngine } from "../../../src/engine/local/local-engine.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();

it.each([
  [1, "float32"],
  [2, "float32"],
  [1, "int8"],
] as const)(
  "draws, scores and saves nothing after training diverged (%i workers, %s)",
  async (workers, samplingWeights) => {
    const model = await writeTinyModel(folder);
    const engine = await openLocalEngine({ model, workers, slots: 8, samplingWeights });
    const row = { inputs: [5, 6, 7], targets: [6, 7, 8], fields: { weights: [1, 1, 1] } };
    const request = { promptIds: [5, 6, 7], maxTokens: 5, stopIds: [], stopStrings: [] };
    const sampling = { temperature: 1, topP: 1, topK: 0, seed: 1, sequence: null };
    try {
      await engine.forwardBackward([row], { name: "cross-entropy", options: {} });
      const adam = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, gradClipNorm: 1 };
      await engine.optimStep({ ...adam, learningRate: NaN });
      for (const drawn of [sampling, { ...sampling, temperature: 0 }, { ...sampling, topK: 4 }]) {
        await expect(engine.sample({ ...request, ...drawn })).rejects.toThrow(
          errorWith("WEIGHT_NOT_FINITE", "training diverged"),
        );
      }
      await expect(engine.logprobs([row])).rejects.toThrow(errorWith("WEIGHT_NOT_FINITE"));
      await expect(engine.save(join(folder, "saved"))).rejects.toThrow(
        errorWith("WEIGHT_NOT_FINITE", "is not written"),
      );
    } finally {
      await engine.close();
    }
  },
);
