// Nearest vectors: exact search and the graph, against hnswlib called from Python over the same graph file, one thread and one
// core each. Times are processor time, which a busy machine disturbs less than the clock.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { blockMaker, MAX_QUERIES, MAX_TILE } from "../../dist/retrieval/dense/dot-products.js";
import { openFlatSearch } from "../../dist/retrieval/dense/flat-search.js";
import { buildHnsw } from "../../dist/retrieval/dense/hnsw.js";
import { encodeVectors, vectorFormat } from "../../dist/retrieval/dense/vector-format.js";
import { createFile } from "../../dist/retrieval/store/checked-file.js";
import { runChild } from "./child.mjs";
import { gaussianMixture } from "./made-vectors.mjs";
import { bar, rounded, verdicts } from "./rows.mjs";

const MNIST = new URL(
  "../../../shared/data/vectors/mnist-t10k-images-idx3-ubyte.gz",
  import.meta.url,
);
/** efSearch is left to the build, as a user leaves it. */
const GRAPH = { M: 16, efConstruction: 200 };
const K = 10;
/** The machine may be busier at one time than at another. */
const TURNS = 2;
const BARS = { recall: 0.99, ratio: 0.9 };

export async function measure({ sizes, quick, work, python }) {
  mkdirSync(work, { recursive: true });
  const sets = [...mnist(), ...(sizes ?? [quick ? 20_000 : 1_000_000]).map(made)];
  const runs = [];
  for (const set of sets) {
    console.error(`vectors, ${set.name}`);
    runs.push({ ...(await graphRun(set, { work, python })), kernels: kernels(set) });
  }
  return { runs: rounded(runs), tables: runs.map(table) };
}

function mnist() {
  if (!existsSync(MNIST)) return [];
  const vectors = Float32Array.from(gunzipSync(readFileSync(MNIST)).subarray(16));
  for (let at = 0; at < vectors.length; at += 784) {
    const row = vectors.subarray(at, at + 784);
    const length = Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
    for (let d = 0; d < 784; d++) row[d] /= length;
  }
  return [
    { name: "mnist-10000x784", dimensions: 784, vectors, queries: vectors.slice(0, 784_000) },
  ];
}

/** 1 000 centres, spread .5 on each of 128 axes, unit length; see made-vectors.mjs. */
function made(count) {
  const shape = { count, queries: 1000, dimensions: 128, centres: 1000, spread: 0.5, seed: 7 };
  return { name: `made-${count}x128`, dimensions: 128, ...gaussianMixture(shape) };
}

async function graphRun({ name, dimensions, vectors, queries }, { work, python }) {
  const count = vectors.length / dimensions;
  const path = join(work, `${name}.hnsw`);
  const { entry, buildSeconds } = await built(path, { count, dimensions, vectors });
  const exactly = await exact(name, { work, dimensions, vectors, queries });
  const asked = join(work, `${name}-queries.f32`);
  writeFileSync(asked, new Uint8Array(queries.buffer, queries.byteOffset, queries.byteLength));
  const contenders = await inTurn({
    ...{ settings: { path, entry, dimensions, count, queries: asked, k: K, rounds: 5 }, python },
  });
  const rows = contenders.map(({ found, ...row }) =>
    found === undefined ? row : { ...row, recall: recallOf(found, exactly.result) },
  );
  const [ours, peer] = rows;
  const bars = { "recall@10": bar(ours.recall ?? 0, BARS.recall) };
  if (peer.status === "ok") {
    bars["queries/s to hnswlib's"] = bar(ours.perSecond / peer.perSecond, BARS.ratio);
  }
  const exactPerSecond = queries.length / dimensions / exactly.seconds;
  return {
    ...{ name, count, dimensions, ...GRAPH, efSearch: entry.efSearch, buildSeconds },
    ...{ rows, exactPerSecond, bars },
  };
}

/** Each contender in a process of its own on the same core, again and again in turn, and the best of its runs. */
async function inTurn({ settings, python }) {
  const node = join(import.meta.dirname, "graph-contender.mjs");
  const programs = {
    agentrl: [process.execPath, node, { ...settings, how: "ours" }],
    "hnswlib, Python": [python, join(import.meta.dirname, "native/hnswlib_contender.py"), settings],
    "hnswlib-node": [process.execPath, node, { ...settings, how: "hnswlib-node" }],
  };
  const best = new Map();
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [contender, [command, script, given]] of Object.entries(programs)) {
      const run = await runChild(command, [script, JSON.stringify(given)], { pinned: true });
      const kept = best.get(contender);
      if (kept === undefined || run.perSecond > kept.perSecond) best.set(contender, run);
    }
  }
  return [...best].map(([contender, run]) => ({ contender, ...run }));
}

/** Built once: a graph that lies there with what was said of it is used again. */
async function built(path, { count, dimensions, vectors }) {
  const about = `${path}.json`;
  if (existsSync(path) && existsSync(about)) return JSON.parse(readFileSync(about, "utf8"));
  const { result: entry, seconds: buildSeconds } = await cpuSeconds(() =>
    buildHnsw(path, {
      ...{ ...GRAPH, count, dimensions },
      vectors: (from, to) => vectors.subarray(from * dimensions, to * dimensions),
    }),
  );
  writeFileSync(about, JSON.stringify({ entry, buildSeconds }));
  return { entry, buildSeconds };
}

async function exact(name, { work, dimensions, vectors, queries }) {
  const path = join(work, `${name}.f32`);
  const format = vectorFormat("f32", dimensions);
  rmSync(path, { force: true });
  const file = createFile(path);
  for (let at = 0; at < vectors.length; at += 4096 * dimensions) {
    file.append(encodeVectors(format, vectors.subarray(at, at + 4096 * dimensions)));
  }
  const search = await openFlatSearch({ path, entry: file.finish(), format }, { threads: 0 });
  const found = await bestOf(2, () => search.search(queries, K));
  await search.close();
  rmSync(path);
  return found;
}

function recallOf(found, exactly) {
  let common = 0;
  for (const [i, hits] of exactly.entries()) {
    const positions = new Set(found[i]);
    common += hits.filter(({ position }) => positions.has(position)).length;
  }
  return common / (K * exactly.length);
}

/** Inner products of a tile that stays in the cache, SIMD and plain loops. */
function kernels({ dimensions, vectors, queries }) {
  return ["f32", "f16", "int8"].map((storage) => {
    const format = vectorFormat(storage, dimensions);
    const rate = (code, times) => {
      const block = blockMaker(format, { code }).make(MAX_TILE);
      block.records.set(encodeVectors(format, vectors.subarray(0, MAX_TILE * dimensions)));
      block.setQueries(queries.subarray(0, MAX_QUERIES * dimensions));
      const once = () => {
        for (let i = 0; i < times; i++) block.scores(0, MAX_TILE, i % 8);
      };
      once();
      const begin = process.cpuUsage();
      once();
      const { user, system } = process.cpuUsage(begin);
      return (2 * 4 * MAX_TILE * dimensions * times) / (1000 * (user + system));
    };
    return { storage, simdGflops: rate("simd", 4000), plainGflops: rate("plain", 200) };
  });
}

async function bestOf(times, work) {
  let best = null;
  for (let i = 0; i < times; i++) {
    const run = await cpuSeconds(work);
    if (best === null || run.seconds < best.seconds) best = run;
  }
  return best;
}

async function cpuSeconds(work) {
  const begin = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(begin);
  return { result, seconds: (user + system) / 1e6 };
}

function table({
  name,
  M,
  efConstruction,
  efSearch,
  rows,
  exactPerSecond,
  buildSeconds,
  bars,
  kernels,
}) {
  const cells = rows.map(({ contender, status, detail, recall, perSecond, openSeconds }) =>
    status === "ok"
      ? [contender, recall.toFixed(4), perSecond.toFixed(0), openSeconds.toFixed(1)]
      : [contender, status, detail],
  );
  const rates = kernels.map(
    ({ storage, simdGflops, plainGflops }) =>
      `${storage} ${simdGflops.toFixed(1)} and ${plainGflops.toFixed(1)}`,
  );
  return {
    title: `${name}, M ${M}, efConstruction ${efConstruction}, efSearch ${efSearch}, one thread`,
    rows: [
      ["", "recall@10", "q/s", "open s"],
      ...cells,
      ["exact", "1", exactPerSecond.toFixed(0), ""],
    ],
    notes: [
      ...verdicts(bars).map((line) => `  ${line}`),
      `  built in ${buildSeconds.toFixed(1)} s; inner products, SIMD and plain, GFLOP/s: ${rates.join(", ")}`,
    ],
  };
}
