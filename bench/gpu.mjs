// A model of a real one's shape, trained and sampled on a GPU: speed, memory, what crosses, and where the time goes.
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parameterCount } from "../dist/models/parameters.js";
import { probeDevice } from "../dist/onnx/device-probe.js";
import { runtimeInfo } from "../dist/onnx/runtime-info.js";
import { machine } from "./engine/timing.mjs";
import { measureApart, measureWithPython } from "./gpu/attempt.mjs";
import { listedCards, peaksOf, watchMemory } from "./gpu/cards.mjs";
import { plan } from "./gpu/plan.mjs";
import { shapes, writeShape } from "./gpu/shapes.mjs";
import { tableOf } from "./gpu/table.mjs";

const DEVICES = ["webgpu", "cuda", "cpu"];

export async function measure(args) {
  const options = readOptions(args);
  const begun = performance.now();
  const { shape, device, folder, budget } = options;
  const { config } = shapes[shape];
  const work = { ...shapes[shape].work, training: options.training };
  const model = join(folder, shape);
  const cards = await listedCards();
  const probe = await probeDevice(device);
  await mkdir(folder, { recursive: true });
  await writeShape(model, config);
  const memory = watchMemory(cards);
  const result = {
    benchmark: "gpu",
    date: new Date().toISOString().slice(0, 10),
    machine: { ...machine(), onnxruntime: (await runtimeInfo()).version },
    ...{ cards, device, probe, shape, parameters: parameterCount(config), work },
    rows: [],
  };
  try {
    for (const job of plan({ ...options, slow: isSlow(probe), model, work })) {
      const left = 1000 * budget - (performance.now() - begun);
      console.error(`${job.name} … (${Math.round(left / 1000)} s left)`);
      const rows = await runJob(job, { options, probe, memory, left });
      result.rows.push(...rows.map((row) => ({ job: job.name, ...row })));
    }
  } finally {
    memory.stop();
  }
  // The card that was used, where there are several: the one whose memory rose most.
  const used = result.rows.reduce(
    (most, { gpuPeak }) => ((gpuPeak?.mib ?? 0) > (most?.mib ?? 0) ? gpuPeak : most),
    null,
  );
  const card = cards.find(({ index }) => index === used?.index) ?? cards[0] ?? null;
  result.card = device === "cpu" || card === null ? null : { ...card, peaks: peaksOf(card.name) };
  for (const row of result.rows) addShare(row, result);
  const checks = result.rows.filter(({ job }) => job === "check");
  result.passed = checks.every(({ failed, passed }) => failed === undefined && passed);
  if (!result.passed) process.exitCode = 1;
  return rounded({ ...result, seconds: (performance.now() - begun) / 1000 });
}

/** Four significant digits of everything that is no whole number. */
function rounded(result) {
  const short = (_, value) =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  return JSON.parse(JSON.stringify(result, short));
}

/** A software device, by how it multiplies. */
function isSlow(probe) {
  return probe.works && probe.gflops < 10;
}

function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      device: { type: "string", default: "webgpu" },
      shape: { type: "string", default: "0.5b" },
      python: { type: "string" },
      seconds: { type: "string", default: "10" },
      budget: { type: "string", default: "480" },
      limit: { type: "string", default: "170" },
      rows: { type: "string" },
      length: { type: "string" },
      only: { type: "string" },
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-gpu") },
    },
  });
  const { shape, device, python, only, work } = values;
  if (!DEVICES.includes(device)) throw new Error(`--device is one of ${DEVICES.join(", ")}.`);
  if (!(shape in shapes)) throw new Error(`--shape is one of ${Object.keys(shapes).join(", ")}.`);
  const { rows, length } = shapes[shape].work.training;
  return {
    ...{ shape, device, python, folder: work, only: only?.split(",") },
    ...{ seconds: Number(values.seconds), budget: Number(values.budget) },
    limit: Number(values.limit),
    training: { rows: Number(values.rows ?? rows), length: Number(values.length ?? length) },
  };
}

/** Rows of a job's attempts, the failed ones included, up to the first that succeeds. */
async function runJob(job, { options, probe, memory, left }) {
  const python = "python" in job;
  const [first] = job.attempts;
  if (left <= 0) return [{ failed: "not run: no time was left (--budget)" }];
  if (!python && first.device === options.device && !probe.works) return [{ failed: probe.why }];
  if (!python && first.device === options.device && isSlow(probe) && options.shape !== "tiny") {
    const speed = `${probe.gflops.toPrecision(2)} GFLOP/s`;
    return [{ failed: `not run: multiplies at ${speed}, a software device; --shape tiny` }];
  }
  if (python && job.python === undefined) return [{ failed: "missing: no --python was given" }];
  const deadline = performance.now() + left;
  const rows = [];
  for (const attempt of job.attempts) {
    await memory.start();
    const limit = Math.min(1000 * options.limit, deadline - performance.now());
    if (limit <= 0) return [...rows, { failed: "not run: no time was left (--budget)" }];
    const found = python
      ? await measureWithPython(job.python, attempt, limit)
      : await measureApart(attempt, limit);
    const { hostPeakMiB, versions } = found;
    // Of the process: where it gives several rows, of all of them.
    const gpuPeak = memory.peak() ?? undefined;
    const facts = { hostPeakMiB, versions, gpuPeak };
    rows.push(...found.rows.map((row) => ({ ...facts, ...row })));
    if (found.failed === undefined) return rows;
    const { microBatchRows } = python ? {} : attempt;
    rows.push({ ...facts, microBatchRows, failed: found.failed });
    // With less to hold in memory it would not be there either, nor be done sooner.
    if (found.code === "DEVICE_MISSING" || found.late === true) return rows;
  }
  return rows;
}

/**
 * Shares of the card's peak, at 6 · N FLOP for a trained token and 2 · N for a sampled one, N all parameters. Adapters' gradients need
 * no products for the weights under them: 4 · N.
 */
function addShare(row, { card, parameters }) {
  if (card?.peaks == null || row.failed !== undefined) return;
  const perToken = row.mode === undefined ? 2 : row.mode === "lora" ? 4 : 6;
  if (row.tokensPerSecond === undefined) return;
  const tflops = (perToken * parameters * row.tokensPerSecond) / 1e12;
  const { float32, bf16 } = card.peaks;
  row.share = { tflops, float32: tflops / float32, bf16: bf16 === null ? null : tflops / bf16 };
}

export const table = tableOf;
