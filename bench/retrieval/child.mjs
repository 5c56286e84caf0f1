// One contender, one process: a fresh heap, and peak memory that is its own.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * Runs a program and reads the JSON line that it prints last.
 *
 * @param options.pinned on one core and one thread, where the system has `taskset`.
 * @returns the line's value with `status` "ok", or {status, detail}: "failed" with the end of what it wrote to stderr,
 *   "out of memory", "not installed" where the program says so (exit status 3) or does not exist, or "too slow".
 */
export async function runChild(command, args, { pinned = false, limitSeconds = 3600 } = {}) {
  const [file, ...rest] = pinned ? [...PINNED, command, ...args] : [command, ...args];
  const start = performance.now();
  const child = spawn(file, rest, {
    timeout: limitSeconds * 1000,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...(pinned ? ONE_THREAD : {}) },
  });
  const [last, remarks, end] = await Promise.all([
    lastLine(child.stdout),
    tail(child.stderr),
    new Promise((done) => {
      child.on("error", (error) => done({ code: error.code }));
      child.on("close", (code, signal) => done({ code, signal }));
    }),
  ]);
  if (end.signal === "SIGKILL" && performance.now() - start >= limitSeconds * 1000) {
    return { status: "too slow", detail: `stopped after ${limitSeconds} s` };
  }
  if (end.code === 0) return { status: "ok", ...JSON.parse(last) };
  return { status: failure(end, remarks), detail: reason(remarks) };
}

function failure({ code, signal }, remarks) {
  if (code === "ENOENT" || code === 3 || code === 127) return "not installed";
  // V8 aborts; the kernel kills.
  if (/heap out of memory|MemoryError|OutOfMemoryError/.test(remarks)) return "out of memory";
  return signal === "SIGKILL" ? "out of memory" : "failed";
}

/** The line that names the error, or the last one. */
function reason(remarks) {
  const lines = remarks.trim().split("\n");
  return (
    lines.find((line) => /\w*(Error|Exception)\b.*:/.test(line)) ??
    lines.at(-1) ??
    ""
  ).trim();
}

const PINNED = process.platform === "linux" ? ["taskset", "-c", "0"] : [];

const ONE_THREAD = Object.fromEntries(
  ["OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR", "RAYON"].map((name) => [
    `${name}_NUM_THREADS`,
    "1",
  ]),
);

async function lastLine(stream) {
  let last = "";
  for await (const line of createInterface({ input: stream })) last = line;
  return last;
}

async function tail(stream) {
  let text = "";
  stream.setEncoding("utf8");
  for await (const piece of stream) text = (text + piece).slice(-8000);
  return text;
}
