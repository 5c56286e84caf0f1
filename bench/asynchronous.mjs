// What `algorithm.maxStepsOffPolicy: 1` gains at a server far away: Search-R1's mini, smaller, over `agentrl serve engine`, each reply to
// a sampling or training call held back as long as a large model would take. Both runs go on at the same time, each at a server of its
// own, so that other work on the machine is the same for both.
//
//   npm run -s bench -- asynchronous [--steps 13] [--sample 2.5] [--train 2.5] [--seed 1] [--rate 0.001] [--questions 2] --json
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";

const binary = join(import.meta.dirname, "../bin/agentrl.js");
const BAR = 1.5;
/** Steps at a run's end whose rewards are compared on their own: while the reward rises, weights of one step ago earn less. */
const LAST = 8;
const TRAINING = /\/(forward|forward_backward)$/;

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      steps: { type: "string", default: "13" },
      sample: { type: "string", default: "2.5" },
      train: { type: "string", default: "2.5" },
      seed: { type: "string", default: "1" },
      /** Learning rate of the adapters. */
      rate: { type: "string", default: "0.001" },
      /** Held-out questions that measure both policies after the training. */
      questions: { type: "string", default: "2" },
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-asynchronous") },
    },
  });
  const before = machine();
  await rm(values.work, { recursive: true, force: true });
  const [off, on] = await Promise.all([0, 1].map((ahead) => runOf(ahead, values)));
  return {
    benchmark: "asynchronous",
    machine: { ...before, loadAfter: machine().load },
    delays: { sample: Number(values.sample), train: Number(values.train) },
    ...{ seed: Number(values.seed), rate: Number(values.rate), off, on },
    ratio: on.stepsAnHour / off.stepsAnHour,
    bar: BAR,
    reward: compared(off.rewards, on.rewards),
    lastReward: compared(off.rewards.slice(-LAST), on.rewards.slice(-LAST)),
  };
}

/** One training through a slow server, from its first finished step to its last. */
async function runOf(ahead, { steps, sample, train, seed, rate, questions, work }) {
  const folder = join(work, `ahead-${ahead}`);
  await mkdir(folder, { recursive: true });
  const server = start(folder, [
    ...["serve", "engine", "--policy", "base", "--data", "weights", "--max-models", "8"],
    ...["--json", "--port", "0"],
  ]);
  const url = await new Promise((resolve, reject) => {
    let said = "";
    server.stdout.on("data", (text) => {
      const found = /"url":"([^"]+)"/.exec((said += text));
      if (found) resolve(found[1]);
    });
    server.once("close", (status) => reject(new Error(`serve engine ended with ${status}`)));
  });
  const proxy = await slowed(url, { sample: 1000 * sample, train: 1000 * train });
  try {
    const sets = [
      ...[`seed=${seed}`, `algorithm.steps=${steps}`, `algorithm.maxStepsOffPolicy=${ahead}`],
      ...["algorithm.promptsPerStep=6", "algorithm.groupSize=4", "algorithm.minibatches=1"],
      ...[`algorithm.optimizer={ learningRate: ${rate} }`, "policy.lora={}", "alarms=[]"],
      ...["engine.name=tinker", `engine.url=${proxy.url}`],
      `evaluation.dataset.questions=${questions}`,
      "batchCheck=false",
    ].flatMap((set) => ["--set", set]);
    const flags = ["--recipe", "search-r1", "--tier", "mini", "--out", "run", "--plain"];
    const child = start(folder, ["train", ...flags, ...sets]);
    child.stdout.resume();
    const lines = join(folder, "run", "metrics.jsonl");
    const at = [];
    const ended = once(child, "close");
    let going = true;
    ended.then(() => (going = false));
    while (going) {
      const text = existsSync(lines) ? await readFile(lines, "utf8") : "";
      while (at.length < text.split("\n").length - 1) at.push(performance.now());
      await wait(100);
    }
    const [status] = await ended;
    if (status !== 0) throw new Error(`agentrl train ended with ${status}`);
    const after = JSON.parse(await readFile(join(folder, "run", "eval", "after.json"), "utf8"));
    return { ...figures(at, await readFile(lines, "utf8")), after: after.metrics.em };
  } finally {
    proxy.close();
    server.kill();
  }
}

function figures(at, text) {
  const rows = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const of = (name) => rows.map(({ data }) => data[name]);
  const hours = (at.at(-1) - at[0]) / 3_600_000;
  const mean = (list) => list.reduce((sum, each) => sum + each, 0) / list.length;
  return {
    steps: rows.length,
    stepsAnHour: (at.length - 1) / hours,
    /** Seconds of a step that the update took, and that it waited for rollouts. */
    update: mean(rows.slice(1).map(({ timing }) => timing.update)) / 1000,
    waited: mean(rows.slice(1).map(({ timing }) => timing.rollout)) / 1000,
    staleness: of("rollout/staleness").at(-1) ?? 0,
    mismatchKl: mean(of("mismatch/kl").slice(1)),
    rewards: of("rollout/reward_mean"),
  };
}

/** Both runs take the same questions in the same order: differences are paired by step. */
function compared(off, on) {
  const differences = on.map((each, i) => each - off[i]);
  const n = differences.length;
  const mean = differences.reduce((sum, each) => sum + each, 0) / n;
  const variance = differences.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (n - 1);
  const standardError = Math.sqrt(variance / n);
  return { difference: mean, standardError, equal: Math.abs(mean) <= 2 * standardError };
}

function start(cwd, args) {
  return spawn(process.execPath, [binary, ...args], { cwd, stdio: ["ignore", "pipe", "inherit"] });
}

/** A proxy that sleeps before it hands on the replies to sampling and training calls. */
async function slowed(url, { sample, train }) {
  const proxy = createServer((asked, reply) => {
    const { method, headers, url: path } = asked;
    const ms = path.endsWith("/asample") ? sample : TRAINING.test(path) ? train : 0;
    const onward = request(new URL(path, url), { method, headers }, (answer) => {
      setTimeout(() => answer.pipe(reply.writeHead(answer.statusCode, answer.headers)), ms);
    });
    onward.on("error", () => reply.destroy());
    asked.pipe(onward);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: `http://127.0.0.1:${proxy.address().port}`,
    close() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

export function table({ off, on, ratio, bar, reward, lastReward, delays }) {
  const difference = (found) =>
    `${found.difference.toFixed(3)} ± ${found.standardError.toFixed(3)}`;
  const row = (name, { stepsAnHour, update, waited, staleness, mismatchKl, rewards }) =>
    `${name}  ${stepsAnHour.toFixed(0).padStart(5)} steps/h, update ${update.toFixed(1)} s, waited ${waited.toFixed(1)} s, staleness ${staleness}, mismatch/kl ${mismatchKl.toExponential(1)}\n     reward ${rewards.map((each) => each.toFixed(2)).join(" ")}`;
  return [
    `each sampling call + ${delays.sample} s, each training call + ${delays.train} s`,
    ...[row("off", off), row("on ", on)],
    `on ÷ off: ${ratio.toFixed(2)} (bar ${bar})`,
    `held-out EM after it: off ${off.after.toFixed(3)}, on ${on.after.toFixed(3)}`,
    `reward on − off: ${difference(reward)} (standard error, paired by step); last ${LAST} steps: ${difference(lastReward)}`,
  ].join("\n");
}
