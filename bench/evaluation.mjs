// The evaluation harness itself: questions of a tiny world, three searches each, against an endpoint that answers at once.
// Endpoint, harness and this program are processes of their own.
//
//   npm run bench -- evaluation [--questions 5000] [--concurrency 64] [--rounds 3] [--python PYTHON] [--work FOLDER]
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { contenders } from "./evaluation/contenders.mjs";
import { watched } from "./evaluation/watched.mjs";
import { aligned } from "./retrieval/rows.mjs";
import { agentrl } from "./serve/server.mjs";

/** Questions a second, everything counted; megabytes per thousand questions over the second half. */
const BARS = { questionsPerSecond: 500, memoryPerThousand: 1 };

/** Each question searches so often, and answers. */
const SEARCHES = 3;

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      questions: { type: "string", default: "5000" },
      concurrency: { type: "string", default: "64" },
      rounds: { type: "string", default: "3" },
      /** Of a virtual environment with the peers: bench/evaluation/requirements.txt. */
      python: { type: "string", default: defaultPython() },
      /** Names of contenders, with commas between; all where absent. */
      only: { type: "string" },
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-evaluation") },
    },
  });
  const before = machine();
  const load = {
    ...{ questions: Number(values.questions), concurrency: Number(values.concurrency) },
    ...{ searches: SEARCHES, work: values.work, python: values.python },
  };
  const chosen = contenders.filter(({ name }) => values.only?.split(",").includes(name) ?? true);
  const world = await madeWorld(load);
  const rounds = [];
  for (let i = 0; i < Number(values.rounds); i++) {
    const round = {};
    for (const contender of chosen) {
      console.error(`round ${i + 1}: ${contender.name}`);
      round[contender.name] = await turn(contender, { ...load, ...world });
    }
    rounds.push(round);
  }
  return {
    benchmark: "evaluation",
    machine: { ...before, loadAfter: machine().load },
    ...{ questions: load.questions, searches: SEARCHES, concurrency: load.concurrency, rounds },
  };
}

/** Where the requirements say to put it, else what the shell finds. */
function defaultPython() {
  const own = join(import.meta.dirname, ".venv/bin/python");
  return existsSync(own) ? own : "python3";
}

/** A tiny world of so many questions, and its index. */
async function madeWorld({ questions, work }) {
  const folder = join(work, `world-${questions}`);
  const index = join(folder, "index");
  if (!existsSync(index)) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(work, { recursive: true });
    const size = ["--people", String(2 * questions), "--questions", String(questions)];
    await agentrl("data", "generate", "tinyworld", "--out", folder, ...size, "--splits", "test");
    await agentrl("index", "build", join(folder, "corpus.jsonl"), "--out", index);
  }
  return { file: join(folder, "test.jsonl"), index };
}

/** One contender asks a fresh endpoint everything. */
async function turn({ command, questionsOf }, load) {
  const endpoint = fork(join(import.meta.dirname, "evaluation/endpoint.mjs"), [
    "--searches",
    String(load.searches),
  ]);
  try {
    const [{ url }] = await once(endpoint, "message");
    const stats = async () => (await fetch(`${url}/stats`)).json();
    const out = join(load.work, "out");
    await rm(out, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    const { program, args, env } = command({ ...load, url, out });
    const seen = await watched(program, args, { env, done: async () => (await stats()).requests });
    if (seen.status === 3) return { missing: seen.stderr.trim().split("\n").at(-1) };
    if (seen.status !== 0) {
      throw new Error(`${program} ended with ${seen.status}: ${seen.stderr.slice(-2000)}`);
    }
    const { requests, firstMs, lastMs } = await stats();
    const askingSeconds = (lastMs - firstMs) / 1000;
    return {
      questions: questionsOf(seen, load),
      requests,
      seconds: seen.seconds,
      askingSeconds,
      cpuSeconds: seen.cpuSeconds,
      questionsPerSecond: load.questions / seen.seconds,
      askedPerSecond: requests / askingSeconds,
      memory: seen.memory,
      load: machine().load[0],
    };
  } finally {
    endpoint.kill();
  }
}

export function table({ questions, searches, concurrency, rounds }) {
  const names = Object.keys(rounds[0]);
  const rows = names.map((name) => {
    const all = rounds.map((round) => round[name]);
    if (all[0].missing !== undefined) return [name, all[0].missing];
    const best = all.reduce((a, b) => (b.seconds < a.seconds ? b : a));
    return [
      ...[name, best.seconds.toFixed(1), best.cpuSeconds.toFixed(1)],
      ...[best.questionsPerSecond.toFixed(0), best.askedPerSecond.toFixed(0)],
      best.memory.quarters.map((each) => each?.toFixed(0) ?? "–").join(" "),
      perQuestions(best.memory, searches).toFixed(2),
    ];
  });
  const head = [
    ...["", "s", "CPU s", "questions/s", "requests/s while asking"],
    ...["RSS at quarters, MB", "MB per 1000 questions, 2nd half"],
  ];
  return [
    `${questions} questions × ${searches} searches, ${concurrency} at once; best of ${rounds.length}`,
    aligned([head, ...rows]),
    verdict(rounds, searches),
  ].join("\n");
}

function perQuestions({ perThousandRequests }, searches) {
  return (perThousandRequests ?? 0) * (searches + 1);
}

function verdict(rounds, searches) {
  const ours = rounds.map((round) => round["agentrl"]).filter((each) => each !== undefined);
  if (ours.length === 0) return "";
  const best = Math.max(...ours.map(({ questionsPerSecond }) => questionsPerSecond));
  const growth = Math.min(...ours.map(({ memory }) => perQuestions(memory, searches)));
  const say = (passed) => (passed ? "ok" : "MISSED");
  return [
    `questions/s ≥ ${BARS.questionsPerSecond}: ${say(best >= BARS.questionsPerSecond)}`,
    `memory ≤ ${BARS.memoryPerThousand} MB per 1000 questions: ${say(growth <= BARS.memoryPerThousand)}`,
  ].join("; ");
}
