// What is measured the same way for every contender that runs in Node.
import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";

/** Hits per query. */
export const K = 10;

/** Queries whose hits are compared between contenders. */
const COMPARED = 300;

/** The values of a file of JSON lines. */
export function readLines(path) {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/**
 * One query at a time, in a circle, for `seconds`; before that the same once for warming up, also at most `seconds`.
 * @param search query → hits, best first, as [id, score or null].
 */
export async function askOneByOne(search, queries, seconds) {
  const hits = [];
  const warm = performance.now() + seconds * 1000;
  for (let i = 0; i < queries.length && performance.now() < warm; i++) {
    const found = await search(queries[i]);
    if (i < COMPARED) hits.push(found.map(([id]) => id));
  }
  const millis = [];
  const start = performance.now();
  let now = start;
  while (now - start < seconds * 1000) {
    await search(queries[millis.length % queries.length]);
    const after = performance.now();
    millis.push(after - now);
    now = after;
    // Timers and collection get a turn as they would in a server.
    if (millis.length % 1024 === 0) await setImmediate();
  }
  return { ...speed(millis, (now - start) / 1000), hits };
}

/** Seconds from a start: on the wall, or those that this process had a processor, which other work changes least. */
export const clocks = {
  wall: () => performance.now() / 1000,
  processor: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  },
};

/** Batches of `size` queries for `seconds`, after one warm-up pass of at most `seconds`. */
export async function askInBatches(search, queries, { size, seconds, clock = "wall" }) {
  const batches = [];
  for (let at = 0; at < queries.length; at += size) batches.push(queries.slice(at, at + size));
  const warm = performance.now() + seconds * 1000;
  for (const batch of batches) {
    if (performance.now() > warm) break;
    await search(batch);
  }
  const start = clocks[clock]();
  const end = performance.now() + seconds * 1000;
  let asked = 0;
  for (let i = 0; performance.now() < end; i++) {
    const batch = batches[i % batches.length];
    await search(batch);
    asked += batch.length;
  }
  return { queriesPerSecond: asked / (clocks[clock]() - start) };
}

function speed(millis, seconds) {
  const sorted = Float64Array.from(millis).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return {
    queries: millis.length,
    queriesPerSecond: millis.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

/** Resident memory in MB: now, after a collection, and the most that this process ever had. */
export async function memory() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await setImmediate();
  }
  return { residentMb: process.memoryUsage().rss / 1e6, peakMb: peakMb() };
}

/** The kernel's high-water mark of this program; `maxRSS` on other systems (on Linux it counts what the parent had). */
export function peakMb() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1e3;
  return (
    (Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024) / 1e6
  );
}

/** A result without the hits, which are for comparing and not for reading. */
export function withoutHits(row) {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== "hits"));
}

/** Mean share of the first list's hits that the second has too, over the queries that both answered. */
export function overlap(ours, theirs) {
  const shares = ours.slice(0, theirs.length).flatMap((hits, i) => {
    if (hits.length === 0) return [];
    const found = new Set(theirs[i]);
    return [hits.filter((id) => found.has(id)).length / hits.length];
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}
