// node test/golden/decoder/write-checkpoints.mjs OUT (after a build): for every configuration the checkpoint as our writer writes it,
// and in OUT/<name>.ours.safetensors what our graphs make of it. decoder.py loads both. decoder.test.ts writes the checkpoints
// again and compares their checksums, so that what was recorded there holds for what is written here.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { microBatches } from "../../../dist/engine/local/batching.js";
import { modelWeights } from "../../../dist/engine/local/model-weights.js";
import { makeTrainer } from "../../../dist/engine/local/trainer.js";
import { Graph } from "../../../dist/autodiff/graph.js";
import { flatten, unflatten, writeCheckpoint } from "../../../dist/models/checkpoint.js";
import { parseDecoderConfig } from "../../../dist/models/config-json.js";
import {
  declareParameters,
  decoderRows,
  vocabularyScores,
} from "../../../dist/models/decoder.js";
import { parameterSpecs } from "../../../dist/models/parameters.js";
import { writeSafetensors } from "../../../dist/models/safetensors.js";
import { openDevice } from "../../../dist/onnx/device.js";
import { createSession, floats, tensorOf } from "../../../dist/onnx/session.js";
import { formulaIds, formulaWeights } from "./formula-weights.mjs";

const out = process.argv[2];
const device = openDevice("cpu", 1);
const read = async (name) => JSON.parse(await readFile(new URL(name, import.meta.url), "utf8"));
const common = await read("common-config.json");
const ids = formulaIds(25, common.vocab_size);
const [inputs, targets] = [ids.slice(0, -1), ids.slice(1)];
const row = { inputs, targets, fields: { weights: targets.map(() => 1 / targets.length) } };
for (const [name, own] of Object.entries(await read("configs.json"))) {
  const folder = join(out, name);
  await mkdir(folder, { recursive: true });
  const config = parseDecoderConfig({ ...common, ...own }, name);
  const named = formulaWeights(parameterSpecs(config));
  const weights = flatten(config, new Map(named.map((each) => [each.name, each])), name);
  await writeCheckpoint(folder, { config, weights }, { dtype: "F32", tokenizerFrom: folder });
  const model = await modelWeights(config, weights, device);
  const trainer = await makeTrainer(config, device, { lora: null });
  const loss = { name: "cross-entropy", options: {} };
  await trainer.forwardBackward(model, [row], microBatches([row], { maxTokens: 64 })[0], loss);
  const gradients = unflatten(config, await trainer.gradients.read()).map((each) => {
    return { ...each, name: `gradient.${each.name}` };
  });
  const graph = new Graph();
  const parameters = declareParameters(graph, config);
  const tokens = graph.input("ids", "int32", [1, inputs.length]);
  const scores = vocabularyScores(parameters, decoderRows(config, parameters, tokens));
  const session = await createSession(graph, { scores }, { threads: 1 });
  const feeds = { ...model.feeds, ids: tensorOf(Int32Array.from(inputs), tokens.shape) };
  const data = floats((await session.run(feeds)).scores);
  const logits = { name: "logits", shape: scores.shape, data };
  await writeSafetensors(join(out, `${name}.ours.safetensors`), [logits, ...gradients], "F32");
}
