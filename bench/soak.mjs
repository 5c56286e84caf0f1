// A training left alone for hours, as people leave one: whether memory, descriptors and threads stay what they were.
//
//   npm run bench -- soak [--minutes 120] [--tier mini] [--every 10] [--set key=value …] [--work FOLDER]
//
// Linux alone: the process is looked at through /proc.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { aligned } from "./retrieval/rows.mjs";
import { slopeInterval } from "./slope.mjs";

const binary = join(import.meta.dirname, "../bin/agentrl.js");

/** Of the time: what a run needs until all its caches are full is left out. */
const SETTLED_AFTER = 0.25;
/** Neighbouring samples are alike: the line goes through the means of so many stretches. */
const STRETCHES = 16;

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      minutes: { type: "string", default: "120" },
      tier: { type: "string", default: "mini" },
      /** Seconds between two looks. */
      every: { type: "string", default: "10" },
      set: { type: "string", multiple: true, default: [] },
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-soak") },
    },
  });
  const before = machine();
  const { work, tier } = values;
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const run = join(work, "run");
  const settings = [
    "algorithm.steps=1000000",
    // A rate that a policy can be trained at for ever.
    "algorithm.optimizer.learningRate={schedule: constant, value: 1.0e-5}",
    ...values.set,
  ].flatMap((each) => ["--set", each]);
  const child = spawn(
    process.execPath,
    [binary, "train", "--recipe", "search-r1", "--tier", tier, "--out", run, ...settings],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr.on("data", (piece) => (said = (said + piece).slice(-4000)));
  const ended = new Promise((resolve) => child.on("close", (code) => resolve(code)));
  const log = join(work, "soak.jsonl");
  await writeFile(log, "");
  const begun = performance.now();
  const samples = [];
  while (performance.now() - begun < Number(values.minutes) * 60_000) {
    const end = await Promise.race([ended, wait(Number(values.every) * 1000, "later")]);
    if (end !== "later") throw new Error(`the training ended with ${end} by itself: ${said}`);
    const seen = await look(child.pid, run);
    const sample = { seconds: Math.round((performance.now() - begun) / 1000), ...seen };
    samples.push(sample);
    await appendFile(log, `${JSON.stringify(sample)}\n`);
  }
  child.kill("SIGINT");
  const status = await ended;
  return {
    benchmark: "soak",
    machine: { ...before, loadAfter: machine().load },
    ...{ tier, minutes: Number(values.minutes), status, log, steps: samples.at(-1)?.steps ?? 0 },
    figures: figuresOf(samples),
  };
}

/** What a process holds now. */
async function look(pid, run) {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const kilobytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  const metrics = join(run, "metrics.jsonl");
  const lines = existsSync(metrics) ? (await readFile(metrics, "utf8")).split("\n").length - 1 : 0;
  return {
    residentMegabytes: kilobytes("VmRSS") / 1024,
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
    threads: kilobytes("Threads"),
    steps: lines,
  };
}

/** Of each thing: its mean early and late, and how much it grows an hour, with 95 % of where that may lie. */
function figuresOf(samples) {
  const last = samples.at(-1)?.seconds ?? 0;
  const settled = samples.filter(({ seconds }) => seconds >= SETTLED_AFTER * last);
  const size = Math.ceil(settled.length / STRETCHES);
  const stretches = Array.from({ length: STRETCHES }, (_, i) =>
    settled.slice(i * size, (i + 1) * size),
  ).filter((stretch) => stretch.length > 0);
  const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
  return Object.fromEntries(
    ["residentMegabytes", "descriptors", "threads"].map((name) => {
      const points = stretches.map((stretch) => [
        mean(stretch.map(({ seconds }) => seconds)) / 3600,
        mean(stretch.map((sample) => sample[name])),
      ]);
      const means = { early: points[0]?.[1] ?? null, late: points.at(-1)?.[1] ?? null };
      return [name, { ...means, perHour: slopeInterval(points) }];
    }),
  );
}

export function table({ tier, minutes, status, steps, log, figures }) {
  const rows = Object.entries(figures).map(([name, { early, late, perHour }]) => {
    const { slope, from, to } = perHour ?? {};
    const number = (value) => (typeof value === "number" ? value.toFixed(2) : "–");
    return [
      name,
      number(early),
      number(late),
      number(slope),
      `${number(from)} … ${number(to)}`,
      from <= 0 && to >= 0 ? "flat" : "not flat",
    ];
  });
  return [
    `train --recipe search-r1 --tier ${tier}: ${minutes} min, ${steps} steps, ended with ${status} when interrupted`,
    aligned([["", "early", "late", "per hour", "95 %", ""], ...rows]),
    `log  ${log}`,
  ].join("\n");
}
