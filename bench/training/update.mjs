// The update of search-r1's mini steps beside the engine's own training rate in the same run, and the graphs that the run compiles.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { train } from "../engine.mjs";

/** Steps in which the run may compile its graphs. */
const WARM_UP = 5;

const STEPS = 14;
const BAR = 0.65;

export async function measure({ work }) {
  const rate = async () => {
    const size = { model: "0.90M", batch: 32, length: 160, bar: 0.7, times: 8, options: {} };
    return (await train(join(work, "model"), size)).tokensPerSecond;
  };
  const before = await rate();
  const run = await miniRun(work);
  const engine = Math.max(before, await rate());
  const ratio = run.tokensPerSecond / engine;
  const passed = ratio >= BAR && run.sessionsLater === 0;
  const count = (number) => Math.round(number).toLocaleString("en");
  return {
    ...{ ...run, engineTokensPerSecond: engine, ratio, bar: BAR, passed },
    tables: [
      {
        title: `steps ${WARM_UP + 1} to ${STEPS} of agentrl train search-r1, and the engine's rate at 32 × 160`,
        rows: [
          ["update", "engine", "ratio", "bar", "graphs compiled", "of these later"],
          [
            `${count(run.tokensPerSecond)} tokens/s`,
            `${count(engine)} tokens/s`,
            ratio.toFixed(2),
            BAR.toFixed(2),
            `${run.sessions} in ${run.sessionSeconds.toFixed(1)} s`,
            String(run.sessionsLater),
          ],
        ],
        notes: [
          `A step takes ${(run.rolloutSeconds / run.steps).toFixed(2)} s of rollouts and ${(run.updateSeconds / run.steps).toFixed(2)} s of update, reference included.`,
        ],
      },
    ],
  };
}

async function miniRun(work) {
  const out = join(work, "run");
  const sessions = join(work, "sessions.jsonl");
  const metrics = join(out, "metrics.jsonl");
  const path = (name) => new URL(name, import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    [
      ...["--import", path("./count-sessions.mjs"), path("../../bin/agentrl.js")],
      ...["train", "search-r1", "--set", `algorithm.steps=${STEPS}`, "--out", out, "--quiet"],
    ],
    { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, SESSIONS_FILE: sessions } },
  );
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const linesOf = (file) =>
    existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).map(JSON.parse) : [];
  const reached = {};
  while (child.exitCode === null) {
    await Promise.race([sleep(50), ended]);
    const done = linesOf(metrics).length;
    for (const step of [WARM_UP, STEPS]) if (done >= step) reached[step] ??= Date.now();
  }
  if (child.exitCode !== 0) throw new Error(`the run ended with status ${child.exitCode}`);
  const later = linesOf(metrics).slice(WARM_UP);
  const compiled = linesOf(sessions);
  const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
  const updateSeconds = sum(later.map(({ timing }) => timing.update)) / 1000;
  return {
    steps: later.length,
    tokensPerSecond: sum(later.map(trainedTokens)) / updateSeconds,
    updateSeconds,
    rolloutSeconds: sum(later.map(({ timing }) => timing.rollout)) / 1000,
    sessions: compiled.length,
    sessionSeconds: sum(compiled.map(({ seconds }) => seconds)),
    sessionsLater: compiled.filter(({ at }) => at > reached[WARM_UP] && at < reached[STEPS]).length,
  };
}

/** Tokens of a step's rows: all that were computed in its time, less those that were sampled. */
function trainedTokens({ data, timing }) {
  const seconds = (timing.rollout + timing.update) / 1000;
  return timing.tokensPerSecond * seconds - data["rollout/tokens"];
}
