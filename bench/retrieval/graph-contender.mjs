// Searches one graph in a process of its own: node graph-contender.mjs '{"how": "ours" | "hnswlib-node", …}'. Prints one JSON line.
import { readFileSync } from "node:fs";
import { webAssembly } from "../../dist/base/wasm.js";
import { openGraphSearch } from "../../dist/retrieval/dense/graph-search.js";
import { openByLibrary } from "../../dist/retrieval/dense/hnsw.js";

const { how, path, entry, dimensions, count, queries, k, rounds } = JSON.parse(process.argv[2]);
const numbers = new Float32Array(Uint8Array.from(readFileSync(queries)).buffer);
const asked = Array.from({ length: numbers.length / dimensions }, (_, i) =>
  numbers.subarray(i * dimensions, (i + 1) * dimensions),
);
const begin = performance.now();
const graph =
  how === "ours"
    ? await openGraphSearch(webAssembly, { path, sha256: entry.sha256, dimensions, count })
    : await openByLibrary({ path, entry, dimensions, count });
const openSeconds = (performance.now() - begin) / 1000;
let best = Infinity;
let found = [];
for (let round = 0; round < rounds; round++) {
  const before = process.cpuUsage();
  found = asked.map((query) => graph.search(query, k, entry.efSearch));
  const { user, system } = process.cpuUsage(before);
  best = Math.min(best, (user + system) / 1e6);
}
const positions = found.map((hits) => hits.map(({ position }) => position));
console.log(JSON.stringify({ perSecond: asked.length / best, openSeconds, found: positions }));
