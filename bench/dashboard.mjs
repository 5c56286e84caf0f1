// What the live view of a training costs: the share of one core that it takes.
//
//   npm run bench -- dashboard [--seconds 20] [--rounds 3] [--steps 12] [--work FOLDER]
//
// `view`: the view alone, fed with the metrics and rollouts of a real run, in a process that does nothing else.
// `run`: the real command in a pseudo terminal (util-linux's `script`), with the view and with --plain in turn.
import { spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { aligned } from "./retrieval/rows.mjs";

const root = join(import.meta.dirname, "..");
const binary = join(root, "bin", "agentrl.js");
const dist = (file) => import(join(root, "dist", file));

/** Bar: share of a core. */
const BAR = 0.05;
/** Of the view alone: until its code is compiled. */
const WARM_UP_SECONDS = 5;

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      seconds: { type: "string", default: "20" },
      rounds: { type: "string", default: "3" },
      steps: { type: "string", default: "12" },
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-dashboard") },
    },
  });
  const { work } = values;
  rmSync(work, { recursive: true, force: true });
  const before = machine();
  const run = trainings(work, Number(values.rounds), values.steps);
  const view = [];
  for (const [columns, rows] of [
    [80, 24],
    [120, 40],
    [200, 50],
  ]) {
    for (const everyMs of [1000, 100]) {
      const terminal = { columns, rows };
      view.push(await viewAlone(join(work, "plain"), terminal, everyMs, Number(values.seconds)));
    }
  }
  return { bench: "dashboard", bar: BAR, machine: before, view, run };
}

/** The view of a run whose steps come every so many milliseconds: processor time over time, and the frames that were written. */
async function viewAlone(run, terminal, everyMs, seconds) {
  process.env.NODE_ENV = "production";
  const { openDashboard } = await dist("cli/dashboard/open-dashboard.js");
  const { processClock } = await dist("cli/dashboard/throttle.js");
  const { processSignals } = await dist("cli/dashboard/terminal-signals.js");
  const { openRunControl } = await dist("run/folder/run-control.js");
  const { findWords, openTraceTexts } = await dist("cli/trace/trace-texts.js");
  const metrics = lines(join(run, "metrics.jsonl"));
  const batches = metrics.map(({ step }) => lines(join(run, "trajectories", `step-${step}.jsonl`)));
  const written = { frames: 0, bytes: 0 };
  const stream = Object.assign(new EventEmitter(), terminal, {
    write(text) {
      written.frames += 1;
      written.bytes += Buffer.byteLength(text);
    },
  });
  const { textOf } = await openTraceTexts(null, await findWords("base"));
  const context = { terminal: true, note: () => undefined, signal: new AbortController().signal };
  const watch = openDashboard(context, {
    facts: { recipe: "search-r1", tier: "mini", seed: 1, out: run },
    ...{ control: openRunControl(), colours: true, stream, keyboard: { isTTY: false } },
    ...{ clock: processClock, signals: processSignals },
    readPast: async () => ({ device: "cpu", history: [], evaluations: [], events: [] }),
    openTexts: async () => textOf,
  });
  let step = 0;
  const feed = setInterval(() => {
    const batch = batches[step % batches.length];
    const { data } = metrics[step % metrics.length];
    step += 1;
    watch.news.onBatch(batch, step);
    const timings = { rollout: everyMs / 2, update: everyMs / 2 };
    const tokens = { sampled: 1000 + (step % 7), trained: 3000 };
    watch.news.onStep({
      ...{ step, totalSteps: 100_000, metrics: data, timings, tokens, trajectories: batch },
    });
  }, everyMs);
  await wait(WARM_UP_SECONDS * 1000);
  written.frames = written.bytes = 0;
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await wait(seconds * 1000);
  const { user, system } = process.cpuUsage(cpu);
  const elapsed = (performance.now() - begun) / 1000;
  clearInterval(feed);
  const { frames, bytes } = written;
  watch.stop();
  return {
    ...{ ...terminal, stepsPerSecond: 1000 / everyMs, framesPerSecond: frames / elapsed },
    ...{ bytesPerSecond: bytes / elapsed, share: (user + system) / 1e6 / elapsed },
  };
}

function lines(file) {
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Seconds of processor time of whole trainings, with the view and without; the folder of the last one without stays. */
function trainings(work, rounds, steps) {
  const one = (name, flags) => {
    const out = join(work, name);
    rmSync(out, { recursive: true, force: true });
    const run = `${process.execPath} ${binary} train --recipe search-r1 --tier smoke --set algorithm.steps=${steps} --out ${out} --json ${flags}`;
    // A size of its own: `script` gives its terminal that of ours, which may have none.
    const timed = `TIMEFORMAT="seconds %U %S %R"; stty cols 120 rows 40; time ${run}`;
    const { stdout } = spawnSync("script", ["-qec", `bash -c '${timed}'`, "/dev/null"], {
      encoding: "utf8",
      maxBuffer: 1e9,
      env: { ...process.env, TERM: "xterm-256color", CI: "" },
    });
    const found = /seconds ([\d.]+) ([\d.]+) ([\d.]+)/.exec(stdout);
    if (found === null) throw new Error(`no training in a pseudo terminal: ${stdout.slice(-2000)}`);
    const [user, system, wall] = found.slice(1).map(Number);
    return {
      cpuSeconds: user + system,
      wallSeconds: wall,
      wroteFrames: stdout.includes("\u001b[K"),
    };
  };
  const pairs = Array.from({ length: rounds }, () => {
    return { view: one("view", ""), plain: one("plain", "--plain") };
  });
  const extra = pairs.map(({ view, plain }) => view.cpuSeconds - plain.cpuSeconds);
  return { steps: Number(steps), pairs, extraCpuSeconds: median(extra) };
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

export function table({ bar, view, run }) {
  const head = ["terminal", "steps/s", "frames/s", "kB/s", "share of a core", `bar ${bar * 100} %`];
  const rows = view.map((each) => [
    `${each.columns}×${each.rows}`,
    each.stepsPerSecond.toFixed(0),
    each.framesPerSecond.toFixed(1),
    (each.bytesPerSecond / 1000).toFixed(1),
    `${(each.share * 100).toFixed(2)} %`,
    each.share <= bar ? "met" : "MISSED",
  ]);
  const runs = run.pairs.map(({ view: own, plain }) => [
    own.cpuSeconds.toFixed(1),
    own.wallSeconds.toFixed(1),
    plain.cpuSeconds.toFixed(1),
    plain.wallSeconds.toFixed(1),
  ]);
  return [
    aligned([head, ...rows]),
    "",
    `a training of ${run.steps} steps, seconds of processor and of the clock; the median of the view's own processor time is ${run.extraCpuSeconds.toFixed(1)} s, with what it takes to load it`,
    aligned([["view CPU", "view", "--plain CPU", "--plain"], ...runs]),
  ].join("\n");
}
