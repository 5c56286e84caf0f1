// How much one process of `agentrl train` with engine.name: tinker handles: Search-R1's paper tier (512 prompts × 5, four searches, 4 096
// tokens, KL against the base, recomputed log-probabilities) at a stub server that answers at once.
//
//   npm run -s bench -- ceiling [--prompts 512] [--steps 3] [--set KEY=VALUE …] [--heap MB] [--tokenizer FOLDER] [--profile FOLDER] [--binary FILE] --json
import { fork, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { madeScript } from "./ceiling/script.mjs";
import { machine } from "./engine/timing.mjs";

const GROUP = 5;
/** The tier's evaluations, which here have two questions each. */
const SETS = ["triviaqa", "popqa", "hotpotqa", "wikimultihop", "musique", "bamboogle"];
const EVALUATED = ["evaluation", ...SETS.map((name) => `evaluation.sets.${name}`)];
/** Policy tokens a second of a process. */
const BAR = 20_000;

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      /** Prompts a step, each with 5 trajectories. */
      prompts: { type: "string", default: "512" },
      steps: { type: "string", default: "3" },
      set: { type: "string", multiple: true, default: [] },
      tokenizer: { type: "string" },
      /** Folder for profiles of the processor (node --cpu-prof). */
      profile: { type: "string" },
      /** Megabytes of the heap, as node --max-old-space-size. */
      heap: { type: "string" },
      /** The command line to measure, e.g. that of another checkout. */
      binary: { type: "string", default: join(import.meta.dirname, "../bin/agentrl.js") },
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-ceiling") },
    },
  });
  const before = machine();
  const { prompts, steps, work } = values;
  await mkdir(work, { recursive: true });
  const script = await madeScript({
    work,
    tokenizer: values.tokenizer,
    questions: Number(prompts),
  });
  const server = fork(join(import.meta.dirname, "ceiling/server.mjs"), [script.file]);
  try {
    const [{ url }] = await once(server, "message");
    const run = await trained({ ...values, script, url, pid: server.pid });
    return {
      benchmark: "ceiling",
      machine: { ...before, loadAfter: machine().load },
      ...{ tokenizer: script.tokenizer, bar: BAR, trajectories: GROUP * Number(prompts) },
      ...{ steps: Number(steps), sets: values.set, ...run },
    };
  } finally {
    server.kill();
  }
}

/** One training from its start to its end, with the counts of the server after each step. */
async function trained(values) {
  const { prompts, steps, set, profile, heap, binary, work, script, url, pid } = values;
  const out = join(work, "run");
  const memoryFile = join(work, "memory.json");
  await rm(out, { recursive: true, force: true });
  const sets = [
    ...[`algorithm.steps=${steps}`, `algorithm.promptsPerStep=${prompts}`],
    ...[`dataset={ name: files, tasks: ${script.train} }`],
    ...EVALUATED.map((key) => `${key}.dataset={ name: files, tasks: ${script.test} }`),
    ...[`retriever.url=${url}`, "retriever.concurrency=256"],
    ...[`policy={ from: ${script.policy}, lora: {} }`, "engine.name=tinker", `engine.url=${url}`],
    ...["engine.dialect=tinker", "alarms=[]", "batchCheck=false", "rewardCheck=false", ...set],
  ];
  const node = [
    ...["--import", join(import.meta.dirname, "ceiling/memory.mjs")],
    ...(heap === undefined ? [] : [`--max-old-space-size=${heap}`]),
    ...(profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]),
  ];
  const flags = ["train", "--recipe", "search-r1", "--tier", "paper", "--out", out, "--plain"];
  const child = spawn(
    process.execPath,
    [...node, binary, ...flags, ...sets.flatMap((each) => ["--set", each])],
    {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, AGENTRL_BENCH_MEMORY: memoryFile },
    },
  );
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said = (said + text).slice(-4000)));
  const lines = join(out, "metrics.jsonl");
  const state = async () => ({
    ...{ at: performance.now(), cpu: await cpuOf(child.pid), serverCpu: await cpuOf(pid) },
    ...(await (await fetch(`${url}/stats`)).json()),
  });
  const ended = once(child, "close");
  let going = true;
  ended.then(() => (going = false));
  const states = [];
  while (going) {
    const text = existsSync(lines) ? await readFile(lines, "utf8") : "";
    if (text.split("\n").length - 1 > states.length) states.push(await state());
    await wait(50);
  }
  const [status, signal] = await ended;
  const { standstillMs, ...memory } = JSON.parse(await readFile(memoryFile, "utf8"));
  const megabytes = Object.fromEntries(
    Object.entries(memory).map(([name, bytes]) => [name, Math.round(bytes / 2 ** 20)]),
  );
  if (status !== 0)
    return {
      failed: { status, signal, said, stepsDone: states.length },
      memory: megabytes,
      standstillMs,
    };
  const metrics = (await readFile(lines, "utf8")).trim().split("\n").map((line) => JSON.parse(line)); // prettier-ignore
  const perStep = states.slice(1).map((now, i) => {
    const { timing } = metrics[i + 1];
    return stepOf(states[i], now, { timing, trajectories: GROUP * Number(prompts) });
  });
  return { perStep, memory: megabytes, standstillMs, digest: await digestOf(out, metrics) };
}

/** What one step took, between the ends of two. */
function stepOf(before, now, { timing, trajectories }) {
  const seconds = (now.at - before.at) / 1000;
  const less = (key) => now[key] - before[key];
  const tokens = less("tokens");
  return {
    seconds,
    rolloutSeconds: timing.rollout / 1000,
    updateSeconds: timing.update / 1000,
    cpuSeconds: less("cpu"),
    serverCpuSeconds: less("serverCpu"),
    policyTokens: tokens,
    tokensPerSecond: tokens / seconds,
    /** The same by seconds of the processor, which other programs do not change: garbage collection on other cores included. */
    tokensPerCpuSecond: tokens / less("cpu"),
    sampledTokensPerSecond: (1000 * tokens) / timing.rollout,
    trajectoriesPerSecond: trajectories / seconds,
    requests: less("requests"),
    connections: less("connections"),
    mostOpen: now.mostOpen,
    sentMegabytes: (now.bytes.read - before.bytes.read) / 2 ** 20,
    receivedMegabytes: (now.bytes.written - before.bytes.written) / 2 ** 20,
    rows: less("rows"),
  };
}

/** Of what was sampled and learned: equal for equal results. */
async function digestOf(out, metrics) {
  const hash = createHash("sha256");
  for (const { data } of metrics) hash.update(JSON.stringify(data));
  const folder = join(out, "trajectories");
  for (const name of (await readdir(folder)).sort())
    hash.update(await readFile(join(folder, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Seconds of user and system time so far, a hundredth each tick. */
async function cpuOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

export function table({
  tokenizer,
  trajectories,
  bar,
  perStep,
  failed,
  memory,
  standstillMs,
  digest,
}) {
  const size = `memory at most: resident ${memory.rss} MB, heap ${memory.heapUsed} MB, arrays outside it ${memory.arrayBuffers} MB; the event loop stood still for ${(standstillMs / 1000).toFixed(1)} s at most`;
  const head = `${trajectories} trajectories a step; tokenizer: ${tokenizer.name}, ${tokenizer.size} entries`;
  if (failed !== undefined)
    return [head, `ended with ${failed.status ?? failed.signal} after ${failed.stepsDone} steps: ${failed.said}`, size].join("\n"); // prettier-ignore
  const rows = perStep.map((step) =>
    [
      `${step.seconds.toFixed(1)} s (rollouts ${step.rolloutSeconds.toFixed(1)}, update ${step.updateSeconds.toFixed(1)}; processor ${step.cpuSeconds.toFixed(1)}, server's ${step.serverCpuSeconds.toFixed(1)})`,
      `${step.tokensPerSecond.toFixed(0)} policy tokens/s (${step.sampledTokensPerSecond.toFixed(0)} while sampling, ${step.tokensPerCpuSecond.toFixed(0)} by processor time), ${step.trajectoriesPerSecond.toFixed(1)} trajectories/s`,
      `${step.requests} requests, ${step.connections} connections (${step.mostOpen} at once), ${step.sentMegabytes.toFixed(0)} MB sent, ${step.receivedMegabytes.toFixed(0)} MB received`,
    ].join("; "),
  );
  if (perStep.length === 0) return [head, size].join("\n");
  const best = Math.max(...perStep.map(({ tokensPerSecond }) => tokensPerSecond));
  const verdict = `policy tokens/s ≥ ${bar}: ${best >= bar ? "ok" : "MISSED"}; results ${digest}`;
  return [head, ...rows, size, verdict].join("\n");
}
