// BM25 against JavaScript peers: time to build, queries a second, memory, and whether they rank by BM25 at all.
import { join } from "node:path";
import { totalmem } from "node:os";
import { runChild } from "./child.mjs";
import { corpora } from "./corpora.mjs";
import { overlap, withoutHits } from "./measuring.mjs";
import { bar, rounded, short, verdicts } from "./rows.mjs";

const PEERS = ["minisearch", "orama", "wink", "flexsearch"];
const script = join(import.meta.dirname, "contender.mjs");

/** Old-space limit of every contender: what the machine has less 4 GB. */
const HEAP_MB = Math.max(2048, Math.floor(totalmem() / 2 ** 20) - 4096);

/** A peer gets this long in all, then counts as too slow. */
const LIMIT_SECONDS = 1800;

/** Passages on which scores are compared with the formula that a peer is said to use. */
const FORMULA_PASSAGES = 2000;

const BARS = { build: 2, queriesPerSecond: 20, memory: 4 };

export async function measure({ sizes, work, seconds, only = PEERS }) {
  const runs = [];
  for (const count of sizes)
    runs.push(await atSize(await corpora(work, count), { work, seconds, only }));
  return { runs, tables: runs.map(table) };
}

async function atSize({ count, real, text }, { work, seconds, only }) {
  const node = (task, settings) => {
    const flags = ["--expose-gc", `--max-old-space-size=${HEAP_MB}`];
    return runChild(process.execPath, [...flags, script, task, JSON.stringify(settings)], {
      limitSeconds: LIMIT_SECONDS,
    });
  };
  const common = { ...text, seconds };
  const ours = await measureOurs(node, { ...common, out: join(work, "peers-index") });
  const rows = [ours];
  for (const contender of PEERS.filter((name) => only.includes(name))) {
    console.error(`${contender}, ${count} passages`);
    const { ranking, bm25 } = await import(`./contenders/${contender}.mjs`);
    const row = {
      contender,
      ranking,
      bm25,
      ...(await node("buildAndAsk", { ...common, contender })),
    };
    if (row.status === "ok") row.overlapAt10 = overlap(ours.hits, row.hits);
    if (row.status === "ok" && bm25) row.formula = await checked(node, { ...common, contender });
    rows.push(row);
  }
  const bars = compared(ours, rows.slice(1));
  return rounded({
    passages: { count, real, made: count - real },
    ...{ k: 10, secondsPerContender: seconds, heapLimitMb: HEAP_MB },
    rows: rows.map(withoutHits),
    bars,
  });
}

async function measureOurs(node, settings) {
  const contender = "ours";
  const built = await node("build", { ...settings, contender });
  if (built.status !== "ok") throw new Error(`Our own build failed: ${built.detail}`);
  const asked = await node("ask", { ...settings, titles: undefined, contender });
  if (asked.status !== "ok") throw new Error(`Our own search failed: ${asked.detail}`);
  const { ranking, bm25, name } = await import("./contenders/ours.mjs");
  return {
    ...{ contender: name, ranking, bm25, status: "ok", version: built.version },
    buildSeconds: built.buildSeconds,
    ...asked,
    buildPeakMb: built.peakMb,
    askPeakMb: asked.peakMb,
    peakMb: Math.max(built.peakMb, asked.peakMb),
    formula: await checked(node, { ...settings, contender }),
  };
}

async function checked(node, settings) {
  const { status, detail, ...found } = await node("formula", {
    ...{ ...settings, passages: FORMULA_PASSAGES },
  });
  return status === "ok" ? found : { agrees: false, detail };
}

/** Each bar against the best of the peers that rank by a BM25 formula, which need not be the same peer. */
function compared(ours, peers) {
  const ranked = peers.filter((peer) => peer.status === "ok" && peer.formula?.agrees === true);
  if (ranked.length === 0) return {};
  const best = (name, pick) => pick(...ranked.map((peer) => peer[name]));
  return {
    build: bar(best("buildSeconds", Math.min) / ours.buildSeconds, BARS.build),
    queriesPerSecond: bar(
      ours.queriesPerSecond / best("queriesPerSecond", Math.max),
      BARS.queriesPerSecond,
    ),
    "memory (peaks)": bar(best("peakMb", Math.min) / ours.peakMb, BARS.memory),
    "memory (resident after asking)": bar(
      best("residentMb", Math.min) / ours.residentMb,
      BARS.memory,
    ),
  };
}

function table({ passages, rows, bars }) {
  const head = ["", "build s", "q/s", "p50 ms", "p99 ms", "ready MB", "asked MB", "peak MB"];
  const cells = rows.map((row) => {
    if (row.status !== "ok") return [row.contender, row.status];
    const speeds = ["buildSeconds", "queriesPerSecond", "p50Ms", "p99Ms"];
    return [
      row.contender,
      ...[...speeds, "readyMb", "residentMb", "peakMb"].map((name) => short(row[name])),
      short(row.overlapAt10),
      row.formula === undefined ? "none" : row.formula.agrees ? "as said" : "differs",
    ];
  });
  return {
    title: `${passages.count} passages (${passages.real} real), one query at a time`,
    rows: [[...head, "overlap@10", "scores"], ...cells],
    notes: [
      ...rows.map(({ contender, ranking }) => `  ${contender}: ${ranking}`),
      ...verdicts(bars).map((line) => `  ${line}`),
    ],
  };
}
