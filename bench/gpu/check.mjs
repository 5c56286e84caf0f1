// Whether the device computes what the processor computes, before anything is timed.
import { join } from "node:path";
import { microBatches } from "../../dist/engine/local/batching.js";
import { openLocalEngine } from "../../dist/engine/local/local-engine.js";
import { adaptedWeights, modelWeights } from "../../dist/engine/local/model-weights.js";
import { makeTrainer } from "../../dist/engine/local/trainer.js";
import { random } from "../../dist/base/random.js";
import { readCheckpoint } from "../../dist/models/checkpoint.js";
import { initialAdapter, trainedSpecs } from "../../dist/models/lora/lora.js";
import { targetModules } from "../../dist/models/lora/target-modules.js";
import { tensorsOf } from "../../dist/models/parameters.js";
import { openDevice } from "../../dist/onnx/device.js";
import { policyGradient, policyRows } from "./rows.mjs";
import { shapes, writeShape } from "./shapes.mjs";

const GRADIENT_GAP = 1e-4;
const MISMATCH = 1e-3;

const TINY = ["tiny", { ...shapes.tiny.config, maxPositions: 512 }, { rows: 2, length: 32 }];

/** Heads, their size and their groups as in the 0.5b shape, and matrices that large kernels are chosen for. */
const SMALL = [
  "small",
  {
    ...{
      ...shapes["0.5b"].config,
      vocabSize: 4096,
      hiddenSize: 448,
      layers: 2,
      heads: 7,
      kvHeads: 1,
    },
    ...{ intermediateSize: 1216, maxPositions: 512 },
  },
  // Scored targets are more than the head is wide: their scores are cut in chunks there.
  { rows: 4, length: 256 },
];

/** @param job.slow on a software device: the tiny model alone. */
export async function check(job, report) {
  for (const [name, config, size] of job.slow ? [TINY] : [TINY, SMALL]) {
    const model = join(job.folder, `check-${name}`);
    await writeShape(model, config);
    for (const [mode, recompute] of [
      ["full", false],
      ["full", true],
      ["lora", true],
    ]) {
      report(await gradientCheck({ name, model, device: job.device, mode, recompute, size }));
    }
    report(await samplingCheck(name, model, job.device));
  }
}

/** The largest distance of a parameter's gradient from the processor's, as a share of its norm. */
async function gradientCheck({ name, model, device, mode, recompute, size }) {
  const there = await gradients(model, device, { mode, recompute, size });
  // On the processor nothing is computed twice: `recompute` is checked as well.
  const here = await gradients(model, "cpu", { mode, recompute: false, size });
  let worst = { gap: 0, parameter: "" };
  here.forEach(({ name: parameter, data }, i) => {
    const norm = Math.hypot(...chunked(data, (k) => data[k]));
    const gap = Math.hypot(...chunked(data, (k) => data[k] - there[i].data[k])) / norm;
    // NaN is a gap too.
    if (!(gap <= worst.gap)) worst = { gap, parameter };
  });
  const passed = worst.gap <= GRADIENT_GAP;
  return { check: "gradients", model: name, mode, recompute, ...worst, bar: GRADIENT_GAP, passed };
}

/** Norms of stretches, short enough to be arguments. */
function chunked(data, at) {
  const norms = [];
  for (let from = 0; from < data.length; from += 1024) {
    let sum = 0;
    for (let k = from; k < Math.min(from + 1024, data.length); k++) sum += at(k) ** 2;
    norms.push(Math.sqrt(sum));
  }
  return norms;
}

async function gradients(model, name, { mode, recompute, size }) {
  const device = openDevice(name, 1);
  const { config, weights: numbers } = await readCheckpoint(model);
  const base = await modelWeights(config, moved(numbers), device);
  const lora = { rank: 4, alpha: 8, rslora: false, targets: targetModules };
  const trained = mode === "lora" ? lora : null;
  let weights = base;
  if (trained !== null) {
    const adapter = initialAdapter(config, lora, 1);
    const draw = random("adapter");
    adapter.weights.forEach((_, i) => (adapter.weights[i] = 0.05 * draw.normal()));
    weights = await adaptedWeights(config, base, adapter, device);
  }
  // With `recompute` scores are cut in chunks as well.
  const scoresBytes = (size.rows * size.length * 4 * config.vocabSize) / 4;
  const memory = recompute ? { recompute, scoresBytes } : {};
  const trainer = await makeTrainer(config, device, { lora: trained, memory });
  const rows = policyRows(config.vocabSize, size);
  const batches = microBatches(rows, { maxTokens: size.rows * size.length }).flat();
  await trainer.forwardBackward(weights, rows, batches, policyGradient);
  return tensorsOf(trainedSpecs(config, trained), await trainer.gradients.read());
}

/** Biases away from zero and norms from one, where a mistake in them would not show. */
function moved(numbers) {
  const draw = random("moved");
  return numbers.map((each) => (each === 0 || each === 1 ? each + 0.3 * draw.normal() : each));
}

/** What the device draws, scored by its training graph and by the processor's. Sequences outgrow the cache's first size. */
async function samplingCheck(name, model, device) {
  const open = (on) => openLocalEngine({ model, device: on, workers: 1, slots: 4 });
  const there = await open(device);
  const here = await open("cpu");
  const draw = random("prompts");
  const prompts = Array.from({ length: 4 }, () =>
    Array.from({ length: 40 }, () => draw.int(there.config.vocabSize)),
  );
  const drawn = await sampleAll(there, prompts);
  const expected = await sampleAll(here, prompts);
  const rows = drawn.map(({ ids, logprobs }, i) => {
    const all = [...prompts[i], ...ids];
    const before = new Array(prompts[i].length - 1).fill(0);
    const weights = [...before, ...ids.map(() => 1)];
    return { inputs: all.slice(0, -1), targets: all.slice(1), fields: { weights, logprobs } };
  });
  const gap = async (engine) => {
    const scored = await engine.logprobs(rows);
    const gaps = drawn.flatMap(({ logprobs }, i) =>
      logprobs.map((each, k) => Math.abs(each - scored[i][prompts[i].length - 1 + k])),
    );
    return gaps.some(Number.isNaN) ? NaN : Math.max(...gaps);
  };
  const [mismatch, fromProcessor] = [await gap(there), await gap(here)];
  const tokens = drawn.flatMap(({ ids }, i) => ids.map((id, k) => id === expected[i].ids[k]));
  await Promise.all([there.close(), here.close()]);
  return {
    ...{ check: "sampling", model: name, mismatch, fromProcessor, bar: MISMATCH },
    sameTokens: tokens.filter(Boolean).length / tokens.length,
    passed: mismatch <= MISMATCH && fromProcessor <= MISMATCH,
  };
}

function sampleAll(engine, prompts) {
  return Promise.all(
    prompts.map((promptIds, seed) =>
      engine.sample({
        ...{ promptIds, maxTokens: 32, stopIds: [], stopStrings: [], temperature: 1, topP: 1 },
        ...{ topK: 0, seed, sequence: null },
      }),
    ),
  );
}
