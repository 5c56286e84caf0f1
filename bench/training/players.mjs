// Contenders that stay alive and wait for their turn: one process each, so that no two ever compute at once.
import { spawn } from "node:child_process";
import { cpus } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

/** How long threads of the last turn may spin or be put to sleep before the next one starts. */
const SETTLE_MS = 250;

/**
 * Starts a program that prints one JSON line when it is ready, and one for every JSON line that it is given.
 *
 * @returns {status: "ok", ready: its first line, turn, close}, or {status, detail}: "not installed" where the program says so
 *   (exit status 3) or does not exist, "failed" with the end of what it wrote to stderr.
 */
export async function startPlayer(command, args) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  const remarks = tail(child.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((done) => {
    child.on("error", (error) => done(error.code));
    child.on("close", (code) => done(code));
  });
  // A program that ended breaks the pipe; what it said is read below.
  child.stdin.on("error", () => undefined);
  const next = async () => {
    for (;;) {
      const line = await lines.next();
      if (line.done) return null;
      if (line.value.startsWith("{")) return JSON.parse(line.value);
    }
  };
  const ready = await next();
  if (ready === null) return { status: statusOf(await ended), detail: reason(await remarks) };
  return {
    ...{ status: "ok", ready },
    async turn(request = {}) {
      const before = machineSeconds();
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const answer = await next();
      if (answer === null) throw new Error(`${args.at(0)} ended: ${reason(await remarks)}`);
      const { times = 1 } = request;
      const others = machineSeconds() - before - answer.processorSeconds * times;
      const share = others / (answer.seconds * times * cpus().length);
      await pause(SETTLE_MS);
      return { ...answer, busyElsewhere: Math.max(0, share) };
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

/**
 * Starts ours and theirs, works with them, and ends them whatever comes.
 * @param programs.ours arguments of ours.mjs. @param programs.theirs [command, arguments].
 */
export async function withPlayers({ ours: args, theirs: [command, rest] }, work) {
  const script = join(import.meta.dirname, "ours.mjs");
  const ours = await startPlayer(process.execPath, [script, ...args]);
  if (ours.status !== "ok") throw new Error(`Our own engine failed: ${ours.detail}`);
  const theirs = await startPlayer(command, rest);
  try {
    return await work({ ours, theirs });
  } finally {
    await ours.close();
    await theirs.close?.();
  }
}

/** A function that takes a turn of about so many seconds; how many times that is, is found out by one. */
export async function turnsOf(player, request, seconds) {
  const first = await player.turn(request);
  const times = Math.max(1, Math.round(seconds / first.seconds));
  return () => player.turn({ ...request, times });
}

/** Seconds that all cores together were busy since the machine started: what was not the contender's says whose machine it was. */
function machineSeconds() {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0) / 1000;
}

function statusOf(code) {
  return code === 3 || code === "ENOENT" || code === 127 ? "not installed" : "failed";
}

function reason(remarks) {
  const lines = remarks.trim().split("\n");
  return (lines.findLast((line) => /Error\b.*:/.test(line)) ?? lines.at(-1) ?? "").trim();
}

async function tail(stream) {
  let text = "";
  stream.setEncoding("utf8");
  for await (const piece of stream) text = (text + piece).slice(-8000);
  return text;
}
