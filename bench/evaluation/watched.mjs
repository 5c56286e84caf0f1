// A program that is watched while it runs: its time, its processor time and how its memory goes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { slope } from "../slope.mjs";

const SAMPLE_MS = 200;

/**
 * Runs a program to its end.
 *
 * @param done how much of the work is done after so many milliseconds, asked at each sample; for the slope.
 * @returns seconds, cpuSeconds (user and system), memory in MB at quarters of the run and its slope, stdout, stderr, status.
 */
export async function watched(program, args, { cwd, env, done }) {
  const start = performance.now();
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: "pipe" });
  child.stdin.end();
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  }
  const samples = [];
  let cpuSeconds = 0;
  const ended = once(child, "close");
  let going = true;
  const watching = (async () => {
    while (going) {
      const [rss, cpu, progress] = await Promise.all([rssOf(child.pid), cpuOf(child.pid), done()]);
      if (rss !== null) samples.push({ ms: performance.now() - start, rss, progress });
      cpuSeconds = Math.max(cpuSeconds, cpu);
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
  })();
  const [status] = await ended;
  const seconds = (performance.now() - start) / 1000;
  going = false;
  await watching;
  return { status, seconds, cpuSeconds, ...output, memory: memoryOf(samples), samples };
}

/** Megabytes at quarters of the work, the most, and megabytes per thousand requests over its second half (least squares). */
function memoryOf(samples) {
  const busy = samples.filter(({ progress }) => progress > 0);
  const last = busy.at(-1)?.progress ?? 0;
  const at = (share) => busy.find(({ progress }) => progress >= share * last)?.rss ?? null;
  const late = busy.filter(({ progress }) => progress >= last / 2);
  return {
    quarters: [0.25, 0.5, 0.75, 1].map(at),
    most: Math.max(0, ...samples.map(({ rss }) => rss)),
    perThousandRequests: slope(late.map(({ progress, rss }) => [progress / 1000, rss])),
  };
}

/** Resident megabytes; null when the process is gone. */
async function rssOf(pid) {
  try {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return null;
  }
}

/** Seconds of user and system time so far, a hundredth each tick. */
async function cpuOf(pid) {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}
