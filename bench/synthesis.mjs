// The gold-chain teacher through `agentrl synth-data`, as people run it: a tiny world's questions, every search run over a BM25
// index of its passages, draws and samples written. One run for the time, one for the objects that stay alive.
//
//   npm run bench -- synthesis [--passages 100000] [--questions 100000] [--timed 5000] [--work FOLDER]
import { existsSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { watched } from "./evaluation/watched.mjs";
import { aligned } from "./retrieval/rows.mjs";
import { agentrl } from "./serve/server.mjs";
import { slope } from "./slope.mjs";

/** Trajectories a second from start to end; megabytes of live objects per thousand of them, over the second half. */
const BARS = { trajectoriesPerSecond: 200, liveMegabytesPerThousand: 0.01 };

/** Of the tiny world: passages for each person. */
const PASSAGES_PER_PERSON = 1.7;

const binary = join(import.meta.dirname, "../bin/agentrl.js");
const heapWatch = new URL("./synthesis/heap-watch.mjs", import.meta.url).href;

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      passages: { type: "string", default: "100000" },
      /** Of the run that looks at memory; 0 leaves it out. */
      questions: { type: "string", default: "100000" },
      /** Of the run that is timed; 0 leaves it out. */
      timed: { type: "string", default: "5000" },
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-synthesis") },
    },
  });
  const before = machine();
  const passages = Number(values.passages);
  const [memoryRun, timedRun] = [Number(values.questions), Number(values.timed)];
  const world = await madeWorld(passages, Math.max(memoryRun, timedRun), values.work);
  const out = join(values.work, "out");
  const timed = timedRun === 0 ? null : await draw(world, { questions: timedRun, out });
  const heap = join(values.work, "heap.txt");
  const live = memoryRun === 0 ? null : await draw(world, { questions: memoryRun, out, heap });
  return {
    benchmark: "synthesis",
    machine: { ...before, loadAfter: machine().load },
    ...{ passages, timed, live },
  };
}

/** A tiny world of so many passages, its questions and its index. */
async function madeWorld(passages, questions, work) {
  const folder = join(work, `world-${passages}-${questions}`);
  const index = join(folder, "index");
  if (!existsSync(index)) {
    await rm(folder, { recursive: true, force: true });
    const people = String(Math.ceil(passages / PASSAGES_PER_PERSON));
    const size = ["--people", people, "--questions", String(questions), "--splits", "train"];
    await agentrl("data", "generate", "tinyworld", "--out", folder, ...size);
    await agentrl("index", "build", join(folder, "corpus.jsonl"), "--out", index);
  }
  return { file: join(folder, "train.jsonl"), index };
}

/** One synthesis; with `heap` it collects garbage now and then, and is not timed. */
async function draw({ file, index }, { questions, out, heap }) {
  await rm(out, { recursive: true, force: true });
  if (heap !== undefined) await rm(heap, { force: true });
  const log = join(out, "draws.jsonl");
  const drawn = async () => (existsSync(log) ? (await stat(log)).size : 0);
  const watch = heap === undefined ? [] : ["--import", heapWatch];
  const seen = await watched(
    process.execPath,
    [
      ...[...watch, binary, "synth-data", "--teacher", "gold-chain", "--dataset", file],
      ...["--index", index, "--limit", String(questions), "--out", out, "--json", "--quiet"],
    ],
    { env: heap === undefined ? {} : { HEAP_WATCH: heap }, done: drawn },
  );
  if (seen.status !== 0) {
    throw new Error(`synth-data ended with ${seen.status}: ${seen.stderr.slice(-2000)}`);
  }
  const { drawn: count } = JSON.parse(seen.stdout);
  const { rollouts, seconds: drawSeconds } = count;
  return {
    ...{ questions, rollouts, seconds: seen.seconds, drawSeconds, cpuSeconds: seen.cpuSeconds },
    trajectoriesPerSecond: rollouts / seen.seconds,
    drawnPerSecond: rollouts / drawSeconds,
    mostResident: seen.memory.most,
    ...(heap === undefined ? {} : { heap: await liveOf(heap, seen.samples, rollouts) }),
  };
}

/** Live megabytes at quarters of the trajectories drawn, and per thousand of them over the second half (least squares). */
async function liveOf(heap, samples, rollouts) {
  const last = samples.reduce((most, { progress }) => Math.max(most, progress), 0);
  const drawnAt = (ms) => samples.findLast((sample) => sample.ms <= ms)?.progress ?? 0;
  const lines = (await readFile(heap, "utf8")).trim().split("\n");
  const points = lines
    .map((line) => line.split(" ").map(Number))
    .map(([ms, megabytes]) => ({ drawn: (drawnAt(ms) / last) * rollouts, megabytes }))
    // While they are drawn: the choice among them afterwards is another phase.
    .filter(({ drawn }) => drawn > 0 && drawn < rollouts);
  const at = (share) => points.find(({ drawn }) => drawn >= share * rollouts)?.megabytes ?? null;
  const late = points.filter(({ drawn }) => drawn >= rollouts / 2);
  return {
    quarters: [0.05, 0.25, 0.5, 0.75, 0.95].map(at),
    perThousand: slope(late.map(({ drawn, megabytes }) => [drawn / 1000, megabytes])),
  };
}

export function table({ passages, timed, live }) {
  const rows = [["", "trajectories", "s", "CPU s", "a second", "a second while drawing"]];
  const row = (name, run) => [
    ...[name, String(run.rollouts), run.seconds.toFixed(1), run.cpuSeconds.toFixed(1)],
    ...[run.trajectoriesPerSecond.toFixed(0), run.drawnPerSecond.toFixed(0)],
  ];
  if (timed !== null) rows.push(row("timed", timed));
  if (live !== null) rows.push(row("garbage collected", live));
  const say = (passed) => (passed ? "ok" : "MISSED");
  const verdicts = [];
  if (timed !== null) {
    const passed = timed.trajectoriesPerSecond >= BARS.trajectoriesPerSecond;
    verdicts.push(`trajectories/s ≥ ${BARS.trajectoriesPerSecond}: ${say(passed)}`);
  }
  if (live !== null) {
    const { quarters, perThousand } = live.heap;
    const passed = (perThousand ?? Infinity) <= BARS.liveMegabytesPerThousand;
    const shown = quarters.map((each) => each?.toFixed(1) ?? "–").join(" ");
    verdicts.push(
      `live MB at 5, 25, 50, 75, 95 %: ${shown}; ${perThousand?.toFixed(4) ?? "–"} per 1000 ≤ ${BARS.liveMegabytesPerThousand}: ${say(passed)}`,
    );
  }
  return [`${passages} passages`, aligned(rows), ...verdicts].join("\n");
}
