// `agentrl serve` under load: 64 clients that never pause, then beside them one request of 10 000 queries, then more clients
// than a small queue takes. Server, clients and this program are processes of their own.
//
//   npm run bench -- serve [--seconds 60] [--clients 64] [--per-request 1] [--passages 129000] [--index IDX --queries FILE]
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { corpora, missingSources } from "./retrieval/corpora.mjs";
import { agentrl, startServer, watchHealth } from "./serve/server.mjs";

const WARMUP_MS = 2000;
const BARS = { ratio: 5, growth: 1.1 };

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      seconds: { type: "string", default: "60" },
      clients: { type: "string", default: "64" },
      "per-request": { type: "string", default: "1" },
      passages: { type: "string", default: "129000" },
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-serve") },
      index: { type: "string" },
      queries: { type: "string" },
    },
  });
  const before = machine();
  const { index, queries, source } = await served(values);
  const load = {
    ...{ queries, clients: Number(values.clients), perRequest: Number(values["per-request"]) },
    ...{ warmupMs: WARMUP_MS, ms: 1000 * Number(values.seconds) },
  };
  const steady = await underLoad(index, load);
  const mixed = await besideLargeRequest(index, load);
  const over = await overCapacity(index, { ...load, ms: load.ms / 4 });
  return {
    benchmark: "serve",
    machine: { ...before, loadAfter: machine().load },
    ...{ source, clients: load.clients, perRequest: load.perRequest },
    seconds: Number(values.seconds),
    ...{ steady, mixed, over },
  };
}

/** An index, and questions to ask it. */
async function served({ index, queries, passages, work }) {
  if (index !== undefined && queries !== undefined) {
    return { index, queries: await lines(queries), source: index };
  }
  await mkdir(work, { recursive: true });
  if (missingSources() === null) {
    const { text } = await corpora(work, Number(passages));
    const folder = join(work, `idx-${passages}`);
    if (!existsSync(folder)) await agentrl("index", "build", text.corpus, "--out", folder);
    return {
      ...{ index: folder, queries: await lines(text.questions) },
      source: `${passages} Wikipedia paragraphs, HotpotQA's questions`,
    };
  }
  const world = join(work, "world");
  const folder = join(work, "idx-world");
  if (!existsSync(world)) {
    await agentrl(
      "data",
      "generate",
      "tinyworld",
      "--out",
      world,
      "--people",
      "1000",
      "--seed",
      "7",
    );
  }
  if (!existsSync(folder)) {
    await agentrl("index", "build", join(world, "corpus.jsonl"), "--out", folder);
  }
  return {
    ...{ index: folder, queries: await lines(join(world, "dev.jsonl")) },
    source: "tiny world, its questions",
  };
}

/** One query a line: a JSON string, or an object with a question. */
async function lines(path) {
  const values = (await readFile(path, "utf8")).trimEnd().split("\n");
  return values.map((line) => {
    const value = JSON.parse(line);
    return typeof value === "string" ? value : (value.question ?? value.text);
  });
}

/** What the clients saw, in a process of their own. */
async function runClients(url, load) {
  const clients = fork(join(import.meta.dirname, "serve/clients.mjs"));
  clients.send({ url, ...load });
  const [seen] = await once(clients, "message");
  const answered = seen.statuses[200] ?? 0;
  return { ...seen, requestsPerSecond: Number((answered / (load.ms / 1000)).toFixed(1)) };
}

/** Every query once: what is read from the index then lies in its cache, so that memory which goes on growing is a leak. */
async function warm(url, queries) {
  for (let at = 0; at < queries.length; at += 500) await ask(url, queries.slice(at, at + 500));
}

async function ask(url, queries) {
  const reply = await fetch(`${url}/retrieve`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ queries, topk: 3, return_scores: true }),
  });
  await reply.arrayBuffer();
  return reply.status;
}

async function underLoad(index, load) {
  const server = await startServer(index);
  try {
    await warm(server.url, load.queries);
    const rss = [];
    const sampled = [load.warmupMs, load.warmupMs + load.ms / 2, load.warmupMs + load.ms - 200].map(
      async (wait, i) => {
        await new Promise((resolve) => setTimeout(resolve, wait));
        rss[i] = Math.round((await server.stats()).rssBytes / 1e6);
      },
    );
    const health = watchHealth(server.url);
    const seen = await runClients(server.url, load);
    await Promise.all(sampled);
    const waits = await health();
    const { latency, statuses, failures } = seen;
    const ratio = Number((latency.p99 / latency.p50).toFixed(2));
    const errors = sum(statuses) - (statuses[200] ?? 0) + sum(failures);
    const { latencyMs } = await server.stats();
    const exitStatus = await server.stop();
    return {
      ...{ passages: server.passages, ...seen, ratio, errors, rssMB: rss },
      ...{ healthMs: waits, serverLatencyMs: latencyMs, exitStatus },
      passed:
        errors === 0 && exitStatus === 0 && ratio <= BARS.ratio && rss[2] <= BARS.growth * rss[1],
    };
  } finally {
    server.kill();
  }
}

/** How much others wait while one request of 10 000 queries is answered. */
async function besideLargeRequest(index, load) {
  const server = await startServer(index);
  try {
    const few = { ...load, clients: 4, warmupMs: 500, ms: 4000 };
    const alone = await runClients(server.url, few);
    const health = watchHealth(server.url);
    const large = largeRequest(server.url, load.queries);
    const beside = await runClients(server.url, few);
    const { seconds, status } = await large;
    const waits = await health();
    await server.stop();
    return {
      ...{ status, seconds, clients: few.clients, alone: alone.latency, beside: beside.latency },
      ...{ failures: beside.failures, healthMs: waits },
      passed: status === 200 && sum(beside.failures) === 0 && beside.latency.max < 1000,
    };
  } finally {
    server.kill();
  }
}

async function largeRequest(url, queries) {
  const many = Array.from({ length: 10_000 }, (_, i) => queries[i % queries.length]);
  const start = performance.now();
  const status = await ask(url, many);
  return { status, seconds: round((performance.now() - start) / 1000) };
}

async function overCapacity(index, load) {
  const server = await startServer(index, "--concurrency", "2", "--max-queue", "8");
  try {
    const health = watchHealth(server.url);
    const seen = await runClients(server.url, load);
    const waits = await health();
    const { rssBytes, rejected, inFlight, queued } = await server.stats();
    const exitStatus = await server.stop();
    const { 200: answered = 0, 429: refused = 0, ...others } = seen.statuses;
    return {
      ...{ ...seen, rejected, inFlight, queued, rssMB: Math.round(rssBytes / 1e6) },
      ...{ healthMs: waits, exitStatus },
      passed:
        answered > 0 && refused > 0 && sum(others) + sum(seen.failures) === 0 && exitStatus === 0,
    };
  } finally {
    server.kill();
  }
}

function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function round(value) {
  return Number(value.toFixed(2));
}

export function table({ source, clients, seconds, steady, mixed, over }) {
  const verdict = (passed) => (passed ? "ok" : "MISSED");
  const times = (all) => `p50 ${all.p50}, p99 ${all.p99}, max ${all.max} ms`;
  const counts = (all) =>
    Object.entries(all)
      .map(([what, count]) => `${what}: ${count}`)
      .join(", ") || "none";
  return [
    `${source}; ${clients} clients, ${seconds} s`,
    `load            ${steady.requestsPerSecond} requests/s; ${times(steady.latency)}; p99/p50 ${steady.ratio} (≤ ${BARS.ratio}); errors ${steady.errors}; RSS ${steady.rssMB.join(" → ")} MB  ${verdict(steady.passed)}`,
    `  /health       ${times(steady.healthMs)}`,
    `10 000 queries  answered in ${mixed.seconds} s; ${mixed.clients} others alone ${times(mixed.alone)}, beside it ${times(mixed.beside)}  ${verdict(mixed.passed)}`,
    `  /health       ${times(mixed.healthMs)}`,
    `over capacity   ${counts(over.statuses)}; failures ${counts(over.failures)}; RSS ${over.rssMB} MB; ended with ${over.exitStatus}  ${verdict(over.passed)}`,
    `  /health       ${times(over.healthMs)}`,
  ].join("\n");
}
