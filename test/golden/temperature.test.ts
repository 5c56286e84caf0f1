import { describe, expect, it } from "vitest";
import type { TrainingRow } from "../../src/engine/engine.ts";
import { microBatches } from "../../src/engine/local/batching.ts";
import { modelWeights } from "../../src/engine/local/model-weights.ts";
import { makeTrainer } from "../../src/engine/local/trainer.ts";
import { flatten, unflatten } from "../../src/models/checkpoint.ts";
import { parseDecoderConfig } from "../../src/models/config-json.ts";
import { parameterSpecs } from "../../src/models/parameters.ts";
import { readSafetensors } from "../../src/models/safetensors.ts";
import { openDevice } from "../../src/onnx/device.ts";
import { expectClose } from "../helpers/expect-close.ts";
import common from "./decoder/common-config.json" with { type: "json" };
import configs from "./decoder/configs.json" with { type: "json" };
import { formulaWeights } from "./decoder/formula-weights.mjs";
import golden from "./decoder/temperature.json" with { type: "json" };

// temperature.json: made by decoder/temperature.py with TRL's loss, in float64, by the versions that it names.
const gradients = await readSafetensors(
  new URL("./decoder/temperature.safetensors", import.meta.url).pathname,
);
const keys = { ...common, ...configs[golden.model as "qwen2"], vocab_size: golden.vocabulary };
const config = parseDecoderConfig(keys, golden.model);
const named = formulaWeights(parameterSpecs(config));
const weights = flatten(config, new Map(named.map((each) => [each.name, each])), golden.model);
const device = openDevice("cpu", 1);
const count = golden.mask.flat().reduce((sum, each) => sum + each, 0);

/** The golden batch: fields begin after the prompt. */
function rowsOf({ temperature, oldLogprobs, refLogprobs }: (typeof golden.cases)[number]) {
  return golden.ids.map((ids, r): TrainingRow => {
    const targets = ids.slice(1);
    const after = (numbers: readonly number[]): number[] => [
      ...targets.slice(0, golden.prompt - 1).map(() => 0),
      ...numbers,
    ];
    return { inputs: ids.slice(0, -1), targets,
      fields: {
        weights: after(golden.mask[r]!.map((each) => each / count)),
        advantages: after(golden.mask[r]!.map(() => golden.advantages[r]!)),
        oldLogprobs: after(oldLogprobs[r]!),
        refLogprobs: after(refLogprobs[r]!),
        temperatures: targets.map(() => temperature),
      },
    };
  });
}

describe.each(golden.cases)("at temperature $temperature", (known) => {
  it.each([
    ["whole", 2 ** 26],
    ["in chunks of rows", 16 * 4 * golden.vocabulary],
  ])("loss and gradient are TRL's, scores %s", async (_, scoresBytes) => {
    const rows = rowsOf(known);
    const trainer = await makeTrainer(config, device, { lora: null, memory: { scoresBytes },
    });
    const model = await modelWeights(config, weights, device);
    const options = { ...golden.options, klEstimator: "k3" };
    const loss = { name: "policy-gradient", options };
    const result = await trainer.forwardBackward(model, rows, microBatches(rows, { maxTokens: 64 })[0]!, loss);
    expect(result.loss).toBeCloseTo(known.loss, 5);
    rows.forEach(({ fields }, r) => {
      const scored = Array.from(result.logprobs[r]!).filter((_, i) => fields.weights[i] !== 0);
      const theirs = known.logprobs[r]!.filter((_, i) => golden.mask[r]![i] === 1);
      expectClose(scored, theirs, { atol: 1e-5, rtol: 0 });
    });
    const scales: Readonly<Record<string, number>> = known.scales;
    let [dot, ours, theirs] = [0, 0, 0];
    for (const { name, data } of unflatten(config, await trainer.gradients.read())) {
      const stored = gradients.get(`${known.temperature.toFixed(1)}.${name}`)!.data;
      data.forEach((each, i) => {
        const other = stored[i]! * scales[name]!;
        dot += each * other;
        ours += each * each;
        theirs += other * other;
      });
    }
    expect(Object.keys(scales)).toHaveLength(parameterSpecs(config).length);
    // Stored as halves of the largest element.
    expect(dot / Math.sqrt(ours * theirs)).toBeGreaterThan(0.999999);
    expect(Math.sqrt(ours / theirs)).toBeCloseTo(1, 3);
  });
});
