// The local engine: training, decoding and prefill, as ratios to a plain matrix product in the same run.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { random } from "../dist/base/random.js";
import { openLocalEngine } from "../dist/engine/local/local-engine.js";
import { gemm } from "./engine/gemm.mjs";
import { models, writeModel } from "./engine/models.mjs";
import { standardDecode } from "./engine/standard-decode.mjs";
import { machine, timed } from "./engine/timing.mjs";

const adam = {
  learningRate: 1e-3,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-8,
  weightDecay: 0.01,
  gradClipNorm: 1,
};
const DECODE = { rows: 64, prompt: 100, steps: 56, capacity: 160 };

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      times: { type: "string", default: "8" },
      "micro-batch-tokens": { type: "string" },
    },
  });
  const times = Number(values.times);
  const tokens = values["micro-batch-tokens"];
  const options = tokens === undefined ? {} : { microBatchTokens: Number(tokens) };
  const folder = await mkdtemp(join(tmpdir(), "agentrl-bench-"));
  try {
    const before = machine();
    let gflops = await gemm(20);
    const training = [];
    for (const [model, batch, length, bar] of [
      ["3.95M", 16, 128, 1],
      ["0.90M", 32, 160, 0.7],
    ]) {
      training.push(
        await train(join(folder, model), { model, batch, length, bar, times, options }),
      );
      gflops = Math.max(gflops, await gemm(15));
    }
    const decoding = await decode(join(folder, "0.90M"), times);
    const standard = await standardDecode(models["0.90M"], {
      ...{ rows: DECODE.rows, capacity: DECODE.capacity },
      ...{ from: DECODE.prompt, steps: DECODE.steps, times },
    });
    gflops = Math.max(gflops, await gemm(15));
    return {
      benchmark: "engine",
      machine: { ...before, loadAfter: machine().load },
      gemm: { size: 1024, threads: 2, gflops: round(gflops) },
      training: training.map((each) => {
        const ratio = each.gflops / gflops;
        return { ...each, ratio: round(ratio), passed: ratio >= each.bar };
      }),
      decode: compareDecoding(decoding, standard),
      prefill: { model: "0.90M", tokensPerSecond: round(decoding.prefill) },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function compareDecoding({ best, openSeconds }, standard) {
  const ratio = best / standard.tokensPerSecond;
  return {
    ...{ model: "0.90M", sequences: DECODE.rows, positions: DECODE.capacity },
    tokensPerSecond: round(best),
    msPerStep: round((1000 * DECODE.rows) / best),
    openSeconds: round(openSeconds),
    standard: {
      tokensPerSecond: round(standard.tokensPerSecond),
      msPerStep: round(standard.msPerStep),
    },
    ...{ ratio: round(ratio), bar: { tokensPerSecond: 10_000, ratio: 2 } },
    passed: best >= 10_000 && ratio >= 2,
  };
}

/** Whole training steps: forward, backward, sums over micro-batches and workers, AdamW. */
export async function train(folder, { model, batch, length, bar, times, options }) {
  const parameters = await writeModel(folder, models[model]);
  const opening = performance.now();
  const engine = await openLocalEngine({ model: folder, ...options });
  const openSeconds = (performance.now() - opening) / 1000;
  const rows = randomRows(models[model].vocabSize, batch, length);
  const step = async () => {
    await engine.forwardBackward(rows, { name: "cross-entropy", options: {} });
    await engine.optimStep(adam);
  };
  const first = await timed(1, step);
  const { best, median } = await timed(times, step);
  await engine.close();
  const tokensPerSecond = (batch * length) / best;
  return {
    ...{ model, parameters, batch, length, bar },
    tokensPerSecond: round(tokensPerSecond),
    gflops: round((6 * parameters * tokensPerSecond) / 1e9),
    bestSeconds: round(best, 4),
    medianSeconds: round(median, 4),
    openSeconds: round(openSeconds),
    buildSeconds: round(first.best - best),
  };
}

/** The second request of a sequence goes on from its cache: the first measures prefill, the second decoding alone. */
async function decode(folder, times) {
  const opening = performance.now();
  const engine = await openLocalEngine({ model: folder, slots: DECODE.rows / 2, workers: 2 });
  const openSeconds = (performance.now() - opening) / 1000;
  let best = 0;
  let prefill = 0;
  for (let round = 0; round <= times; round++) {
    const draw = random(round);
    const prompts = Array.from({ length: DECODE.rows }, () =>
      Array.from({ length: DECODE.prompt }, () => draw.int(models["0.90M"].vocabSize)),
    );
    const name = (i) => `${round}/${i}`;
    const [first, filling] = await sampleAll(engine, prompts, 1, name);
    const longer = prompts.map((prompt, i) => [...prompt, ...first[i].ids]);
    const [, seconds] = await sampleAll(engine, longer, DECODE.steps, name);
    prompts.forEach((_, i) => engine.forget(name(i)));
    // The first round builds the sessions.
    if (round === 0) continue;
    best = Math.max(best, (DECODE.rows * DECODE.steps) / seconds);
    prefill = Math.max(prefill, (DECODE.rows * DECODE.prompt) / filling);
  }
  await engine.close();
  return { best, prefill, openSeconds };
}

async function sampleAll(engine, prompts, maxTokens, name) {
  const start = performance.now();
  const results = await Promise.all(
    prompts.map((promptIds, i) =>
      engine.sample({
        ...{ promptIds, maxTokens, stopIds: [], stopStrings: [], temperature: 1, topP: 1, topK: 0 },
        ...{ seed: i, sequence: name(i) },
      }),
    ),
  );
  return [results, (performance.now() - start) / 1000];
}

function randomRows(vocabSize, batch, length) {
  const draw = random("rows");
  return Array.from({ length: batch }, () => {
    const ids = Array.from({ length: length + 1 }, () => draw.int(vocabSize));
    const weights = new Array(length).fill(1 / (batch * length));
    return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
  });
}

function round(value, digits = 2) {
  return Number(value.toFixed(digits));
}

export function table(result) {
  const verdict = (passed) => (passed ? "ok" : "MISSED");
  const lines = [["what", "tokens/s", "GFLOP/s", "ratio", "bar", ""]];
  lines.push(["GEMM 1024³", "", String(result.gemm.gflops), "1", "", ""]);
  for (const each of result.training) {
    const name = `train ${each.model}, ${each.batch} × ${each.length}`;
    const numbers = [each.tokensPerSecond, each.gflops, each.ratio, each.bar].map(String);
    lines.push([name, ...numbers, verdict(each.passed)]);
  }
  const { decode, prefill } = result;
  const bar = `≥ ${decode.bar.tokensPerSecond}, ${decode.bar.ratio}×`;
  const ours = [String(decode.tokensPerSecond), "", String(decode.ratio), bar];
  lines.push([`decode ${decode.model}, ${decode.sequences}`, ...ours, verdict(decode.passed)]);
  lines.push([
    "decode, standard operators",
    String(decode.standard.tokensPerSecond),
    "",
    "1",
    "",
    "",
  ]);
  lines.push([`prefill ${prefill.model}`, String(prefill.tokensPerSecond), "", "", "", ""]);
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  return lines
    .map((line) =>
      line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))),
    )
    .map((cells) => cells.join("  ").trimEnd())
    .join("\n");
}
