// AdamW against torch's fused kernel: nanoseconds of the processor for each element.
import { join } from "node:path";
import { short } from "../retrieval/rows.mjs";
import { startPlayer, turnsOf } from "./players.mjs";
import { inRounds, median } from "./rounds.mjs";

/** Ours over theirs, at most. */
const BAR = 1.5;
const SIZES = { "4M": 4_000_000, "135M": 135_000_000 };
const WORK = [
  { what: "update", threads: 1 },
  { what: "update", threads: 2 },
  { what: "clipped", threads: 1 },
];
const adam = { learningRate: 1e-6, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 };

export async function measure({ python, seconds, rounds, only = Object.keys(SIZES) }) {
  const runs = [];
  for (const name of Object.keys(SIZES).filter((each) => only.includes(each))) {
    for (const work of WORK) {
      console.error(`adamw, ${name}, ${work.what}, ${work.threads}`);
      runs.push({
        name,
        ...work,
        ...(await compare(SIZES[name], work, { python, seconds, rounds })),
      });
    }
  }
  return { runs, tables: [table(runs)] };
}

async function compare(size, work, { python, seconds, rounds }) {
  const script = (file) => join(import.meta.dirname, file);
  const settings = JSON.stringify({ size, adam, ...work });
  const players = await Promise.all([
    startPlayer(process.execPath, [script("ours-adamw.mjs"), settings]),
    startPlayer(python, [script("adamw_player.py"), settings]),
  ]);
  const [ours, theirs] = players;
  try {
    if (ours.status !== "ok") throw new Error(`Our own AdamW failed: ${ours.detail}`);
    if (theirs.status !== "ok") return { peer: theirs };
    const turns = {
      agentrl: await turnsOf(ours, {}, seconds),
      torch: await turnsOf(theirs, work, seconds),
    };
    const found = await inRounds(turns, rounds);
    const nanoseconds = (name, clock) =>
      median(found[name].map((each) => (1e9 * each[clock]) / size));
    const ratios = found.agentrl.map(
      (each, round) => each.processorSeconds / found.torch[round].processorSeconds,
    );
    return {
      version: theirs.ready.version,
      processor: mapped((name) => nanoseconds(name, "processorSeconds")),
      wall: mapped((name) => nanoseconds(name, "seconds")),
      ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
      passed: median(ratios) <= BAR,
    };
  } finally {
    for (const player of players) await player.close?.();
  }
}

function mapped(value) {
  return { agentrl: value("agentrl"), torch: value("torch") };
}

function table(runs) {
  const head = [
    "ns an element",
    "agentrl",
    "torch",
    "ratio",
    "least",
    "most",
    "wall",
    "torch's",
    "",
  ];
  const rows = runs.map(({ name, what, threads, peer, processor, wall, ratio, passed }) => {
    const title = `${name}, ${what}, ${threads === 1 ? "one thread" : "two threads"}`;
    if (peer !== undefined) return [title, peer.status, peer.detail];
    return [
      title,
      ...[processor.agentrl, processor.torch, ratio.median, ratio.least, ratio.most].map(short),
      ...[wall.agentrl, wall.torch].map(short),
      passed ? "ok" : "MISSED",
    ];
  });
  return {
    title: `AdamW and torch's fused kernel, processor time (bar ${BAR})`,
    rows: [head, ...rows],
    notes: runs[0]?.version === undefined ? [] : [`  ${runs[0].version}`],
  };
}
