// Calls of the tool python, against starting a python3 for each program: npm run bench -- sandbox [--calls 1000] [--rounds 3].
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { aligned } from "./retrieval/rows.mjs";
import { pythonPool } from "../dist/sandbox/python-pool.js";

const LIMITS = { seconds: 5, memoryMb: 256, outputCharacters: 10_000, isolation: "process" };
const PROGRAM = "print(2+3)";
/** Programs that a python3 of its own runs in a round: each takes some 20 ms. */
const OWN_PROCESSES = 50;

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      calls: { type: "string", default: "1000" },
      rounds: { type: "string", default: "3" },
    },
  });
  const [calls, rounds] = [Number(values.calls), Number(values.rounds)];
  const signal = new AbortController().signal;
  const pool = pythonPool(1, LIMITS);
  const begun = performance.now();
  await pool.run({ programs: [PROGRAM], seed: 0 }, signal);
  const rows = [{ what: "first call, with the start", ms: performance.now() - begun }];
  for (let round = 1; round <= rounds; round++) {
    const fresh = await each(calls, (seed) => pool.run({ programs: [PROGRAM], seed }, signal));
    rows.push({ what: `fresh globals, round ${round}`, ...fresh });
    // A persistent session is told all its programs, and runs those that it has not run yet.
    const programs = ["x = 1"];
    const kept = await each(calls / 5, () => {
      programs.push("x += 1");
      return pool.run({ programs: [...programs], seed: round, session: `${round}` }, signal);
    });
    rows.push({ what: `kept globals, round ${round}`, ...kept });
    const own = await each(OWN_PROCESSES, () => Promise.resolve(ownProcess()));
    rows.push({ what: `a python3 each, round ${round}`, ...own });
  }
  return { machine: machine(), calls, rows };
}

function ownProcess() {
  const { status } = spawnSync("python3", ["-c", PROGRAM]);
  if (status !== 0) throw new Error("python3 is not here, or failed.");
}

/** Median and 95th percentile of calls one after the other, milliseconds, and calls a second. */
async function each(count, call) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const begun = performance.now();
    await call(i);
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  const sum = times.reduce((a, b) => a + b, 0);
  const at = (share) => times[Math.floor(share * (times.length - 1))];
  return { ms: at(0.5), p95: at(0.95), perSecond: (1000 * count) / sum };
}

export function table({ rows }) {
  const shown = rows.map(({ what, ms, p95, perSecond }) => [
    what,
    ...[ms, p95].map((value) => (value === undefined ? "" : `${value.toFixed(2)} ms`)),
    perSecond === undefined ? "" : `${Math.round(perSecond)}/s`,
  ]);
  return aligned([["call", "median", "p95", "calls"], ...shown]);
}
