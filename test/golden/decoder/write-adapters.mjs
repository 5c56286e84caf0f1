// node test/golden/decoder/write-adapters.mjs OUT (after a build): for every case of lora-cases.json our adapter folder, the checkpoint
// that merging makes, and in OUT/<case>.ours.safetensors the logits that our graphs give with it. lora.py loads all of them;
// lora.test.ts writes them again and compares checksums.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { adaptedWeights, modelWeights } from "../../../dist/engine/local/model-weights.js";
import { Graph } from "../../../dist/autodiff/graph.js";
import { flatten, flattenAs, writeCheckpoint } from "../../../dist/models/checkpoint.js";
import { parseDecoderConfig } from "../../../dist/models/config-json.js";
import {
  declareParameters,
  decoderRows,
  vocabularyScores,
} from "../../../dist/models/decoder.js";
import { parseAdapterConfig, writeAdapter } from "../../../dist/models/lora/adapter-folder.js";
import { loraSpecs, mergeAdapter } from "../../../dist/models/lora/lora.js";
import { parameterSpecs } from "../../../dist/models/parameters.js";
import { writeSafetensors } from "../../../dist/models/safetensors.js";
import { openDevice } from "../../../dist/onnx/device.js";
import { createSession, floats, tensorOf } from "../../../dist/onnx/session.js";
import { formulaIds, formulaWeights } from "./formula-weights.mjs";

const out = process.argv[2];
const device = openDevice("cpu", 1);
const read = async (name) => JSON.parse(await readFile(new URL(name, import.meta.url), "utf8"));
const common = await read("common-config.json");
const configs = await read("configs.json");
const inputs = formulaIds(25, common.vocab_size).slice(0, -1);
const byName = (specs) => new Map(formulaWeights(specs).map((each) => [each.name, each]));
for (const [name, { model, ...own }] of Object.entries(await read("lora-cases.json"))) {
  const config = parseDecoderConfig({ ...common, ...configs[model] }, model);
  const keys = { peft_type: "LORA", target_modules: "all-linear", ...own };
  const lora = parseAdapterConfig(keys, config, name);
  const specs = loraSpecs(config, lora);
  const adapter = { lora, weights: flattenAs(specs, byName(specs), name) };
  const weights = flatten(config, byName(parameterSpecs(config)), model);
  const base = await modelWeights(config, weights, device);
  const { feeds } = await adaptedWeights(config, base, adapter, device);
  const graph = new Graph();
  const parameters = declareParameters(graph, config, lora);
  const ids = graph.input("ids", "int32", [1, inputs.length]);
  const scores = vocabularyScores(parameters, decoderRows(config, parameters, ids, { lora }));
  const session = await createSession(graph, { scores }, { threads: 1 });
  const given = tensorOf(Int32Array.from(inputs), ids.shape);
  const data = floats((await session.run({ ...feeds, ids: given })).scores);
  const logits = { name: "logits", shape: scores.shape, data };
  await writeSafetensors(join(out, `${name}.ours.safetensors`), [logits], "F32");
  await writeAdapter(join(out, name), config, adapter, { base: model, dtype: "F32" });
  mergeAdapter(config, weights, adapter);
  const merged = join(out, `${name}.merged`);
  await mkdir(merged, { recursive: true });
  await writeCheckpoint(merged, { config, weights }, { dtype: "F32", tokenizerFrom: merged });
}
