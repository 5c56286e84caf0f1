// Forecasts of `agentrl recipes plan` beside runs: the first steps of each setting are taken, it is run by the command line, and both are compared.
//
//   npm run bench -- forecast [--only smoke,lora] [--clock wall|processor] [--work FOLDER]
//
// Of the processor, seconds are those of the whole process, which other programs change least. Memory is the peak of resident memory.
import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { machine } from "./engine/timing.mjs";
import { aligned } from "./retrieval/rows.mjs";

const run = promisify(execFile);
const here = join(import.meta.dirname, "forecast");
const binary = join(import.meta.dirname, "../bin/agentrl.js");

/** A tier of search-r1 and what is set on it. */
const SETTINGS = {
  smoke: ["smoke"],
  mini: ["mini", "algorithm.steps=6", "evaluation.dataset.questions=100"],
  "one worker, no KL": [
    ...["mini", "algorithm.steps=4", "evaluation.dataset.questions=50", "engine.workers=1"],
    ...["algorithm.klCoef=0", "algorithm.groupSize=4", "algorithm.promptsPerStep=8"],
  ],
  "LoRA 16": [
    ...["mini", "algorithm.steps=3", "evaluation.dataset.questions=50"],
    ...["policy.lora.rank=16", "algorithm.promptsPerStep=8"],
  ],
  "random, 11 M": ["smoke", "algorithm.groupSize=2", "evaluation.dataset.questions=8"],
};

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      only: { type: "string", default: "" },
      clock: { type: "string", default: "wall" },
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-forecast") },
    },
  });
  const { work, only, clock } = values;
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const model = join(work, "random");
  await run(process.execPath, [join(here, "random-model.mjs"), model, "384", "6"]);
  const rows = [];
  for (const [name, [tier, ...own]] of Object.entries(SETTINGS)) {
    if (!only.split(",").some((begin) => name.startsWith(begin))) continue;
    const sets = name.startsWith("random") ? [...own, `policy.from=${model}`] : own;
    rows.push({ name, ...(await compare({ work, clock }, tier, sets)) });
  }
  return { benchmark: "forecast", machine: machine(), clock, rows };
}

async function compare({ work, clock }, tier, sets) {
  const first = [join(here, "trial.mjs"), clock, "search-r1", tier, ...sets];
  const { stdout } = await run(process.execPath, first, { maxBuffer: 2 ** 26 });
  const { time, peakBytes: bytes, planned, trial } = JSON.parse(stdout);
  const usage = join(work, "usage.json");
  const flags = sets.flatMap((each) => ["--set", each]);
  const out = join(work, "run");
  await rm(out, { recursive: true, force: true });
  const train = [binary, "train", "--recipe", "search-r1", "--tier", tier, "--out", out, ...flags];
  const env = {
    ...process.env,
    BENCH_USAGE: usage,
    NODE_OPTIONS: `--import ${join(here, "usage.mjs")}`,
  };
  const begun = performance.now();
  await run(process.execPath, train, { env, maxBuffer: 2 ** 26 });
  const wallSeconds = (performance.now() - begun) / 1000;
  const { cpuSeconds, peakBytes } = JSON.parse(await readFile(usage, "utf8"));
  const isWall = clock === "wall";
  const forecast = time.total;
  const seconds = isWall ? wallSeconds : cpuSeconds;
  return {
    ...{ forecast, seconds, timeRatio: forecast / seconds, steps: trial.steps },
    ...{ bytes, planned, peakBytes, memoryRatio: bytes / peakBytes, load: trial.load },
  };
}

export function table({ clock, rows }) {
  const heads = [
    "setting",
    clock === "wall" ? "s" : "CPU s",
    "forecast",
    "ratio",
    "MB",
    "forecast",
    "ratio",
    "load",
  ];
  const cells = rows.map((row) => [
    ...[row.name, row.seconds.toFixed(1), row.forecast.toFixed(1), row.timeRatio.toFixed(2)],
    ...[(row.peakBytes / 1e6).toFixed(0), (row.bytes / 1e6).toFixed(0)],
    ...[row.memoryRatio.toFixed(2), row.load.toFixed(1)],
  ]);
  return aligned([heads, ...cells]);
}
