// A process of its own, so that the server keeps its core: closed-loop clients, each sends its next request when its last is
// answered. Started by fork; one message tells it what to do, one brings back what it saw.
import { Agent, request } from "node:http";

process.once("message", async ({ url, queries, clients, perRequest, warmupMs, ms }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const latencies = [];
  const statuses = {};
  const failures = {};
  const begin = performance.now() + warmupMs;
  const end = begin + ms;
  let next = 0;
  const client = async () => {
    while (performance.now() < end) {
      const asked = Array.from({ length: perRequest }, () => queries[next++ % queries.length]);
      const start = performance.now();
      const { status, failure } = await ask(url, agent, asked);
      const now = performance.now();
      if (start < begin || now > end) continue;
      if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1;
      else {
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status === 200) latencies.push(now - start);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  agent.destroy();
  process.send({ statuses, failures, latency: percentiles(latencies) }, () => process.exit(0));
});

/** Search-R1's request; the reply is parsed as its client does. */
function ask(url, agent, queries) {
  const body = JSON.stringify({ queries, topk: 3, return_scores: true });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve) => {
    const sent = request(`${url}/retrieve`, { method: "POST", agent, headers }, (reply) => {
      const pieces = [];
      reply.on("data", (piece) => pieces.push(piece));
      reply.on("end", () => resolve(judged(reply, Buffer.concat(pieces), queries)));
      reply.on("error", (error) => resolve({ failure: error.code ?? error.message }));
    });
    sent.on("error", (error) => resolve({ failure: error.code ?? error.message }));
    sent.end(body);
  });
}

function judged({ statusCode: status, headers }, body, queries) {
  try {
    const { result } = JSON.parse(body);
    if (status === 200 && result.length !== queries.length) return { failure: "results missing" };
  } catch {
    return { failure: `not JSON, status ${status}` };
  }
  if (headers["x-index-fingerprint"] === undefined) return { failure: "no fingerprint" };
  if (status === 429 && headers["retry-after"] === undefined) return { failure: "no Retry-After" };
  return { status };
}

function percentiles(values) {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share) => Number(sorted[Math.ceil(share * sorted.length) - 1].toFixed(3));
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
