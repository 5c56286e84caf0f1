import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Graph } from "../../src/autodiff/graph.ts";
import type { TrainingRow } from "../../src/engine/engine.ts";
import { microBatches } from "../../src/engine/local/batching.ts";
import {
  adaptedWeights,
  modelWeights,
  type ModelWeights,
} from "../../src/engine/local/model-weights.ts";
import { makeTrainer } from "../../src/engine/local/trainer.ts";
import { flatten, flattenAs } from "../../src/models/checkpoint.ts";
import type { DecoderConfig } from "../../src/models/config.ts";
import { parseDecoderConfig } from "../../src/models/config-json.ts";
import { declareParameters, decoderRows, vocabularyScores } from "../../src/models/decoder.ts";
import {
  parseAdapterConfig,
  readAdapter,
  writeAdapter,
} from "../../src/models/lora/adapter-folder.ts";
import { loraSpecs, mergeAdapter, type Adapter } from "../../src/models/lora/lora.ts";
import { parameterSpecs, tensorsOf, type ParameterSpec } from "../../src/models/parameters.ts";
import { readSafetensors, type NamedTensor } from "../../src/models/safetensors.ts";
import { openDevice } from "../../src/onnx/device.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import common from "./decoder/common-config.json" with { type: "json" };
import configs from "./decoder/configs.json" with { type: "json" };
import { formulaIds, formulaWeights } from "./decoder/formula-weights.mjs";
import cases from "./decoder/lora-cases.json" with { type: "json" };
import golden from "./decoder/lora.json" with { type: "json" };

// lora.json: made by decoder/lora.py with the versions that it names; its gradients and logits were computed in float64.
const here = new URL("./decoder/", import.meta.url).pathname;
const folder = temporaryFolder();
const ids = formulaIds(25, common.vocab_size);
const row: TrainingRow = {
  inputs: ids.slice(0, -1),
  targets: ids.slice(1),
  fields: { weights: ids.slice(1).map(() => 1 / (ids.length - 1)) },
};
type Name = keyof typeof cases;
const names = Object.keys(cases) as Name[];

const byName = (specs: readonly ParameterSpec[]): Map<string, NamedTensor> =>
  new Map(formulaWeights(specs).map((each) => [each.name, each]));

function base(model: keyof typeof configs): { config: DecoderConfig; weights: Float32Array } {
  const config = parseDecoderConfig({ ...common, ...configs[model] }, model);
  return { config, weights: flatten(config, byName(parameterSpecs(config)), model) };
}

/** The adapter that write-adapters.mjs wrote, from the same formula. */
function ours(name: Name): Adapter & { config: DecoderConfig; base: Float32Array } {
  const { model, ...own } = cases[name];
  const { config, weights } = base(model as keyof typeof configs);
  const keys = { peft_type: "LORA", target_modules: "all-linear", ...own };
  const lora = parseAdapterConfig(keys, config, name);
  const specs = loraSpecs(config, lora);
  return { config, base: weights, lora, weights: flattenAs(specs, byName(specs), name) };
}

async function logits(config: DecoderConfig, weights: ModelWeights): Promise<Float32Array> {
  const graph = new Graph();
  const parameters = declareParameters(graph, config, weights.lora);
  const tokens = graph.input("ids", "int32", [1, row.inputs.length]);
  const hidden = decoderRows(config, parameters, tokens, { lora: weights.lora });
  const outputs = { scores: vocabularyScores(parameters, hidden) };
  const session = await createSession(graph, outputs, { threads: 1 });
  const given = tensorOf(Int32Array.from(row.inputs), tokens.shape);
  return floats((await session.run({ ...weights.feeds, ids: given }))["scores"]!);
}

const device = openDevice("cpu", 1);

describe.each(names)("the adapter %s in PEFT", (name) => {
  const { config, base, ...adapter } = ours(name);
  const stored = readSafetensors(join(here, `lora-${name}.safetensors`));

  it("has our logits, to 2e-4, and so has the model that it is merged into", async () => {
    const expected = (await stored).get("logits")!.data;
    const model = await modelWeights(config, base, device);
    const adapted = await logits(config, await adaptedWeights(config, model, adapter, device));
    expectClose(adapted, expected, { atol: 2e-4, rtol: 0 });
    const whole = base.slice();
    mergeAdapter(config, whole, adapter);
    const merged = await logits(config, await modelWeights(config, whole, device));
    expectClose(merged, adapted, { atol: 1e-4, rtol: 0 });
    const plain = await logits(config, model);
    expect(Math.max(...plain.map((each, i) => Math.abs(each - expected[i]!)))).toBeGreaterThan(0.1);
  });

  it("has our loss and our gradient of every A and B, to 1e-3 of its norm", async () => {
    const trainer = await makeTrainer(config, device, { lora: adapter.lora });
    const whole = await modelWeights(config, base, device);
    const model = await adaptedWeights(config, whole, adapter, device);
    const loss = { name: "cross-entropy", options: {} };
    const result = await trainer.forwardBackward(model, [row], microBatches([row], { maxTokens: 64 })[0]!, loss);
    expect(result.loss).toBeCloseTo(golden.cases[name].loss, 5);
    const scales: Readonly<Record<string, number>> = golden.cases[name].scales;
    const specs = loraSpecs(config, adapter.lora);
    for (const { name: matrix, data } of tensorsOf(specs, await trainer.gradients.read())) {
      // Stored as halves of the largest element: rounding alone is 2e-4 of the norm.
      const half = (await stored).get(`gradient.${matrix}`)!.data;
      const theirs = half.map((x) => x * scales[matrix]!);
      const gap = Math.hypot(...data.map((each, i) => each - theirs[i]!));
      expect.soft(gap / Math.hypot(...theirs), matrix).toBeLessThan(1e-3);
    }
    expect(specs.map((spec) => spec.name).sort()).toEqual(Object.keys(scales).sort());
  });

  it("loads from what we write, with our logits, and merges as we merge", async () => {
    const at = join(folder, name);
    await writeAdapter(at, config, adapter, { base: cases[name].model, dtype: "F32" });
    const hash = createHash("sha256").update(await readFile(join(at, "adapter_config.json")));
    const written = await readSafetensors(join(at, "adapter_model.safetensors"));
    for (const key of [...written.keys()].sort()) hash.update(key).update(written.get(key)!.data);
    const { wayBack } = golden.cases[name];
    // What lora.py loaded and compared is what is written here.
    expect(hash.digest("hex")).toBe(wayBack.adapter);
    expect(wayBack.worstLogit).toBeLessThan(2e-4);
    expect(wayBack.worstMergedWeight).toBeLessThan(1e-6);
    expect(wayBack.worstMergedLogit).toBeLessThan(2e-4);
    expect(await readAdapter(at, config)).toEqual(adapter);
  });
});

describe("an adapter that PEFT saved", () => {
  it("loads here, its targets named by path, and gives the same logits", async () => {
    const { config, weights } = base("qwen3");
    const at = join(here, "from-peft");
    const adapter = await readAdapter(at, config);
    expect(adapter.lora).toMatchObject({ rank: 2, alpha: 3, rslora: false });
    expect(adapter.lora.targets).toContain("model.layers.1.mlp.up_proj");
    expect(loraSpecs(config, adapter.lora)).toHaveLength(2 * 7 * config.layers);
    const whole = await modelWeights(config, weights, device);
    const model = await adaptedWeights(config, whole, adapter, device);
    const expected = (await readSafetensors(join(at, "logits.safetensors"))).get("logits")!.data;
    expectClose(await logits(config, model), expected, { atol: 2e-4, rtol: 0 });
  });
});
