// What all reporters together cost a training: processor time of the training's own process for each step that they are told of.
//
//   npm run bench -- reporters [--steps 30] [--pause 1500] [--run RUN] [--mlflow URL] [--trackio URL]
//
// Servers that answer as real ones did run in another process, unless real ones are named.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { aligned } from "./retrieval/rows.mjs";
import { openReporters } from "../dist/watch/reporters/open-reporters.js";

/** Seconds of the quickest step of search-r1, tier mini, that was seen on two cores: the share is against it unless a run is given. */
const STEP_SECONDS = 2.5;
/** Of a step's time. */
const BAR = 0.01;

/** Of a step of search-r1, tier mini. */
const NAMES = [
  ...["reward_mean", "searches", "turns", "answer_rate", "format_rate", "completion_tokens"],
  ...["entropy", "zero_variance_share", "unscored_share", "error_share", "duplicate_query_rate"],
].map((name) => `rollout/${name}`);
const OTHERS = [
  ...["reward/exact-match", "mismatch/kl", "losses/policy", "losses/clip_fraction", "losses/kl"],
  ...["losses/approx_kl", "optimizer/grad_norm", "optimizer/learning_rate"],
];

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      steps: { type: "string", default: "30" },
      /** Milliseconds between two steps: longer than what is told together. */
      pause: { type: "string", default: "1500" },
      /** A run folder whose steps the cost is a share of. */
      run: { type: "string" },
      /** TRACKIO_WRITE_TOKEN holds a real Trackio's token. */
      mlflow: { type: "string" },
      trackio: { type: "string" },
    },
  });
  const stepSeconds = values.run === undefined ? STEP_SECONDS : await secondsOf(values.run);
  const servers = await recordedServers();
  const out = await mkdtemp(join(tmpdir(), "agentrl-bench-reporters-"));
  try {
    const named = [
      { name: "tensorboard" },
      { name: "mlflow", url: values.mlflow ?? servers.url },
      { name: "trackio", url: values.trackio ?? servers.url },
    ];
    const before = machine();
    const cost = await costOf(named, out, Number(values.steps), Number(values.pause));
    const share = Object.fromEntries(
      Object.entries(cost.cpuMs).map(([key, ms]) => [key, ms / 1000 / stepSeconds]),
    );
    return {
      machine: before,
      servers: { mlflow: values.mlflow ?? "recorded", trackio: values.trackio ?? "recorded" },
      steps: Number(values.steps),
      figuresPerStep: NAMES.length + OTHERS.length + 3,
      stepSeconds,
      ...cost,
      share,
      bar: BAR,
      passed: share.to <= BAR && cost.troubles.length === 0,
    };
  } finally {
    servers.close();
    await rm(out, { recursive: true, force: true });
  }
}

/** Pauses with a step told and pauses without take turns, so that what the process does anyway is taken off. */
async function costOf(named, out, steps, pauseMs) {
  const troubles = [];
  const start = {
    ...{ recipe: "search-r1", tier: "mini", version: "0.1.0", out, afterStep: 0 },
    settings: Object.fromEntries(
      Array.from({ length: 120 }, (_, i) => [`algorithm.option${i}`, i]),
    ),
  };
  const opening = performance.now();
  const reporter = await openReporters(named, start, (message) => troubles.push(message));
  const openMs = performance.now() - opening;
  const told = [];
  const calls = [];
  // The first steps connect, make the run and log its settings.
  for (let step = 1; step <= 3; step++) {
    reporter.metrics(step, figures(step), timing(step));
    await wait(pauseMs);
  }
  for (let step = 4; step < steps + 4; step++) {
    const idle = await cpuDuring(() => wait(pauseMs));
    const busy = await cpuDuring(async () => {
      const called = performance.now();
      reporter.metrics(step, figures(step), timing(step));
      calls.push(performance.now() - called);
      await wait(pauseMs);
    });
    told.push(busy - idle);
  }
  const closing = performance.now();
  await reporter.close("finished");
  const closeMs = performance.now() - closing;
  return { cpuMs: interval(told), callMs: interval(calls), openMs, closeMs, troubles };
}

async function cpuDuring(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function figures(step) {
  return Object.fromEntries([...NAMES, ...OTHERS].map((name, i) => [name, Math.sin(step * 7 + i)]));
}

function timing(step) {
  return { rollout: 2000 + step / 7, update: 1500 + step / 3, tokensPerSecond: 3000 / step };
}

/** Mean and the interval in which it lies at 95 %: normal, for 20 values and more. */
function interval(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance =
    values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  const half = 1.96 * Math.sqrt(variance / values.length);
  return { mean, from: mean - half, to: mean + half };
}

/** The median step of a run. */
async function secondsOf(run) {
  const file = join(run, "metrics.jsonl");
  if (!existsSync(file)) throw new Error(`${file} is missing: --run names a run folder.`);
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  const seconds = lines.map((line) => {
    const { rollout, update } = JSON.parse(line).timing;
    return (rollout + update) / 1000;
  });
  return seconds.sort((a, b) => a - b)[Math.floor(seconds.length / 2)];
}

async function recordedServers() {
  const script = join(import.meta.dirname, "reporters/recorded-servers.mjs");
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    child.stdout.once("data", (line) => resolve(String(line).trim()));
    child.once("exit", () => reject(new Error("the recorded servers did not start.")));
  });
  return { url, close: () => child.kill() };
}

export function table(result) {
  const { cpuMs, callMs, share, stepSeconds, passed, bar } = result;
  const ms = ({ mean, from, to }) => `${mean.toFixed(2)} (${from.toFixed(2)} … ${to.toFixed(2)})`;
  const percent = (value) => `${(value * 100).toFixed(3)} %`;
  const rows = [
    ["figure", "value, 95 % interval"],
    ["processor time per step, ms", ms(cpuMs)],
    ["of which the training waits in calls, ms", ms(callMs)],
    [
      `share of a step of ${stepSeconds.toFixed(1)} s`,
      `${percent(share.mean)} (${percent(share.from)} … ${percent(share.to)})`,
    ],
    ["opening, ms", result.openMs.toFixed(1)],
    ["end of the run, ms", result.closeMs.toFixed(1)],
  ];
  const verdict = `${passed ? "passed" : "MISSED"}: bar ${percent(bar)} of step time`;
  return [aligned(rows), ...result.troubles, verdict].join("\n");
}
