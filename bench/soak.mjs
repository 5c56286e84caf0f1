// A training left alone for hours, or a server under clients that never pause: whether memory, descriptors and threads stay what they were.
//
//   npm run bench -- soak [--minutes 120] [--tier mini] [--every 10] [--set key=value …] [--work FOLDER]
//   npm run bench -- soak --of serve|serve-policy [--minutes 15] [--clients 32] [--every 5]
//
// Linux alone: the process is looked at through /proc.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { aligned } from "./retrieval/rows.mjs";
import { slopeInterval } from "./slope.mjs";
import { startServed } from "./soak/served.mjs";

const binary = join(import.meta.dirname, "../bin/agentrl.js");

/** Of the time, or the seconds: until all caches are full. */
const SETTLED_AFTER = 0.25;
const SERVER_SETTLED_SECONDS = 120;
/** Neighbouring samples are alike: the line goes through the means of so many stretches. */
const STRETCHES = 16;

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      of: { type: "string", default: "train" },
      minutes: { type: "string", default: "120" },
      tier: { type: "string", default: "mini" },
      clients: { type: "string", default: "32" },
      /** Seconds between two looks. */
      every: { type: "string", default: "10" },
      set: { type: "string", multiple: true, default: [] },
      work: { type: "string" },
    },
  });
  const before = machine();
  const { of, tier } = values;
  const work = values.work ?? join(tmpdir(), `agentrl-bench-soak-${of}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const soaked =
    of === "train"
      ? startTraining(work, tier, values.set)
      : await startServed(of, { work, clients: Number(values.clients) });
  const log = join(work, "soak.jsonl");
  await writeFile(log, "");
  const begun = performance.now();
  const samples = [];
  while (performance.now() - begun < Number(values.minutes) * 60_000) {
    const end = await Promise.race([soaked.ended, wait(Number(values.every) * 1000, "later")]);
    if (end !== "later") throw new Error(`${of} ended with ${end} by itself`);
    const seconds = Math.round((performance.now() - begun) / 1000);
    const sample = { seconds, ...(await look(soaked.pid)), progress: await soaked.progress() };
    samples.push(sample);
    await appendFile(log, `${JSON.stringify(sample)}\n`);
  }
  const end = await soaked.stop();
  const settledAt =
    of === "train" ? SETTLED_AFTER * (samples.at(-1)?.seconds ?? 0) : SERVER_SETTLED_SECONDS;
  return {
    benchmark: "soak",
    machine: { ...before, loadAfter: machine().load },
    ...{ of, tier, minutes: Number(values.minutes), ...end, log },
    progress: samples.at(-1)?.progress ?? 0,
    figures: figuresOf(samples.filter(({ seconds }) => seconds >= settledAt)),
  };
}

function startTraining(work, tier, overrides) {
  const run = join(work, "run");
  const settings = [
    "algorithm.steps=1000000",
    // A rate that a policy can be trained at for ever.
    "algorithm.optimizer.learningRate={schedule: constant, value: 1.0e-5}",
    ...overrides,
  ].flatMap((each) => ["--set", each]);
  const child = spawn(
    process.execPath,
    [
      binary,
      "train",
      "--recipe",
      "search-r1",
      "--tier",
      tier,
      "--out",
      run,
      "--quiet",
      ...settings,
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const ended = once(child, "close").then(([status]) => status);
  const metrics = join(run, "metrics.jsonl");
  return {
    ...{ pid: child.pid, ended },
    progress: async () =>
      existsSync(metrics) ? (await readFile(metrics, "utf8")).split("\n").length - 1 : 0,
    async stop() {
      child.kill("SIGINT");
      return { status: await ended };
    },
  };
}

/** What a process holds now. */
async function look(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return {
    residentMegabytes: number("VmRSS") / 1024,
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
    threads: number("Threads"),
  };
}

/** Of each thing: its mean early and late, and how much it grows an hour, with 95 % of where that may lie. */
function figuresOf(settled) {
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

export function table({ of, tier, minutes, status, statuses, progress, log, figures }) {
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
  const what =
    of === "train"
      ? `train --recipe search-r1 --tier ${tier}: ${minutes} min, ${progress} steps`
      : `${of}: ${minutes} min, ${progress} requests (${JSON.stringify(statuses)})`;
  return [
    `${what}, ended with ${status}`,
    aligned([["", "early", "late", "per hour", "95 %", ""], ...rows]),
    `log  ${log}`,
  ].join("\n");
}
