import { describe, expect, it } from "vitest";
import { modelWeights } from "../../../src/engine/local/model-weights.ts";
import { makeSampler, type Sampler } from "../../../src/engine/local/sampler.ts";
import { flatten } from "../../../src/models/checkpoint.ts";
import { HOST_INPUTS } from "../../../src/models/host-sampling-graph.ts";
import { initialWeights } from "../../../src/models/initialise.ts";
import { openDevice, type Device } from "../../../src/onnx/device.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

/** A sampler of two slots, and the lengths of the prompts that it has computed. */
async function openSampler(): Promise<{ sampler: Sampler; prefilled: number[] }> {
  const cpu = openDevice("cpu", 1);
  const prefilled: number[] = [];
  const device: Device = {
    ...cpu,
    async compile(graph, outputs, options) {
      const session = await cpu.compile(graph, outputs, options);
      return {
        ...session,
        run(feeds, into) {
          const [, chunk] = feeds[HOST_INPUTS.shape]!.data as BigInt64Array;
          if (chunk! > 1n) prefilled.push(Number(chunk));
          return session.run(feeds, into);
        },
      };
    },
  };
  const named = initialWeights(tinyConfig, 7);
  const numbers = flatten(tinyConfig, new Map(named.map((each) => [each.name, each])), "test");
  const sampler = await makeSampler(
    {
      config: tinyConfig,
      device,
      slots: 2,
      capacity: tinyConfig.maxPositions,
      tokenBytes: (id) => Uint8Array.of(id),
    },
    await modelWeights(tinyConfig, numbers, cpu),
  );
  return { sampler, prefilled };
}

describe("a group of more sequences than slots", () => {
  it("has its prompt computed once, also for those that begin after others have written", async () => {
    const { sampler, prefilled } = await openSampler();
    const sample = async (promptIds: number[], name: string, maxTokens: number): Promise<void> => {
      const pick = { temperature: 1, topP: 1, topK: 0, seed: maxTokens };
      const ends = { maxTokens, stopIds: [], stopStrings: [] };
      await sampler.sample({ promptIds, sequence: name, ...pick, ...ends });
      sampler.forget(name);
    };
    const [one, other] = [
      [1, 2, 3, 4],
      [4, 3, 2, 1, 5],
    ];
    const group = [3, 5, 2, 4, 6, 3].map((length, i) => sample(one, `one ${i}`, length));
    const next = [4, 2, 3, 5].map((length, i) => sample(other, `other ${i}`, length));
    await Promise.all([...group, ...next]);
    // Without the last token, which the first step computes.
    expect(prefilled).toEqual([3, 4]);
    await sampler.stop();
  });
});
