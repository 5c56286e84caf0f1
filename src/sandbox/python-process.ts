import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ConfigError, ExternalError } from "../base/errors.ts";
import { once } from "../base/once.ts";
import { bubblewrap } from "./bubblewrap.ts";

export interface PythonLimits {
  /** Of one program. Counted in the interpreter's own processor time where the system tells it, so that a busy machine changes nothing. */
  seconds: number;
  memoryMb: number;
  outputCharacters: number;
  isolation: "auto" | "bubblewrap" | "process";
}

/** Programs of one session, of which the last one is new; or a session that has ended. `answers`: it may call final_answer(…), which ends it. */
export type PythonRequest =
  | { programs: readonly string[]; seed: number; session?: string; answers?: true }
  | { close: string };

/**
 * What a program came to. `error` has the exception's name and its text; `tainted`: the interpreter must not be used again; `answer`: what
 * final_answer received.
 */
export interface PythonResult {
  text: string;
  cut: boolean;
  error: readonly [name: string, text: string] | null;
  tainted: boolean;
  answer?: string;
}

export type PythonOutcome = PythonResult | "time-limit" | "crash";

/** An interpreter in a process of its own. One request at a time. */
export interface PythonProcess {
  /** @throws the signal's reason; the process has then ended. */
  run(request: PythonRequest, signal: AbortSignal): Promise<PythonOutcome>;
  readonly ended: boolean;
  kill(): void;
}

/** Threads and processes run compiled code; tests that run from the sources use the build as well. */
const built = (name: string): string =>
  fileURLToPath(new URL(name, import.meta.url.replace(/\/src\/(sandbox\/[^/]*)$/, "/dist/$1")));

/** Memory of a loaded interpreter, 31 MB; empty where none could be made, and each interpreter then loads itself. */
const snapshot = once(async (): Promise<Buffer> => {
  const args = ["--no-warnings", built("./python-snapshot.js")];
  try {
    const options = { encoding: "buffer", env: {}, maxBuffer: 2 ** 28 } as const;
    return (await promisify(execFile)(process.execPath, args, options)).stdout;
  } catch {
    return Buffer.alloc(0);
  }
});

/** A limit may take this many times as long by the clock, while the interpreter waits for a processor. */
const PATIENCE = 10;

/** @throws {ExternalError} PYTHON_NOT_STARTED. @throws {ConfigError} BUBBLEWRAP_ABSENT. */
export async function startPython(
  limits: PythonLimits,
  file = built("./python-child.js"),
): Promise<PythonProcess> {
  const start = await snapshot();
  const child = spawned(limits, file);
  const [, , errors, requests, replies, memory] = child.stdio as unknown as Socket[];
  if (!errors || !requests || !replies || !memory) throw new Error("no pipes");
  memory.on("error", () => undefined);
  // The child has it until it ends; open here, it would keep this process alive.
  memory.end(start, () => memory.destroy());
  const lines = createInterface({ input: replies })[Symbol.asyncIterator]();
  let stderr = "";
  errors.on("data", (chunk: Buffer) => (stderr = `${stderr}${chunk.toString()}`.slice(-2000)));
  requests.on("error", () => undefined);
  let ended = false;
  child.on("error", () => (ended = true));
  child.on("exit", () => (ended = true));
  const next = async (): Promise<unknown> => {
    const line: IteratorResult<string, undefined> = await lines.next();
    try {
      return line.done === true ? null : JSON.parse(line.value);
    } catch {
      return null;
    }
  };
  const hold = (isHeld: boolean): void => {
    for (const each of [child, errors, requests, replies])
      if (isHeld) each.ref();
      else each.unref();
  };
  if ((await next()) === null) {
    const message = `The Python interpreter didn't start: ${stderr.trim() || "it ended without a message"}. Install the package again: its dependency pyodide may be incomplete.`;
    throw new ExternalError("PYTHON_NOT_STARTED", message);
  }
  hold(false);
  const kill = (): void => {
    ended = true;
    child.kill("SIGKILL");
  };
  return {
    get ended() {
      return ended;
    },
    kill,
    async run(request, signal) {
      signal.throwIfAborted();
      hold(true);
      const late = lateness(child.pid ?? 0, limits.seconds, kill);
      signal.addEventListener("abort", kill);
      try {
        requests.write(`${JSON.stringify(request)}\n`);
        const reply = await next();
        signal.throwIfAborted();
        if (isResult(reply)) return reply;
        kill();
        return late.wasLate() ? "time-limit" : "crash";
      } finally {
        late.stop();
        signal.removeEventListener("abort", kill);
        if (!ended) hold(false);
      }
    },
  };
}

/** A program that took hold of its interpreter can forge a reply, and still not one of another form. */
function isResult(reply: unknown): reply is PythonResult {
  const { text, cut, error, answer = "" } = (reply ?? {}) as Partial<PythonResult>;
  const isError =
    error === null || (Array.isArray(error) && error.every((each) => typeof each === "string"));
  const areTexts = typeof text === "string" && typeof answer === "string";
  return areTexts && typeof cut === "boolean" && isError;
}

function spawned(
  { memoryMb, outputCharacters, isolation }: PythonLimits,
  file: string,
): ChildProcess {
  const pyodide = dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
  const program = dirname(dirname(file));
  const shown = [program, join(dirname(program), "package.json"), dirname(pyodide)];
  const wrapped = isolation === "process" ? null : bubblewrap(shown);
  if (isolation === "bubblewrap" && wrapped === null)
    throw new ConfigError(
      "BUBBLEWRAP_ABSENT",
      "isolation: bubblewrap needs the program bwrap and the right to make namespaces. Install bubblewrap, or set isolation: auto.",
    );
  const words = [
    ...(wrapped ?? []),
    process.execPath,
    ...["--disallow-code-generation-from-strings", "--max-old-space-size=512", file],
    ...[memoryMb * 2 ** 20, outputCharacters].map(String),
  ];
  const [command = "", ...rest] = words;
  return spawn(command, rest, {
    // For bubblewrap alone, which clears it.
    env: wrapped === null ? {} : { PATH: process.env["PATH"] },
    cwd: tmpdir(),
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", "pipe"],
  });
}

/** A program that ends sooner costs no look at its process. */
const SOON_MS = 20;

/** Calls `kill` once a process has run for so many seconds. */
function lateness(
  pid: number,
  limit: number,
  kill: () => void,
): { wasLate: () => boolean; stop: () => void } {
  const began = Date.now();
  let late = false;
  let before: number | null = null;
  const first = async (): Promise<void> => {
    before = await processorSeconds(pid);
    if (!stopped) timer = setTimeout(() => void check(), limit * 1000);
  };
  const check = async (): Promise<void> => {
    const now = await processorSeconds(pid);
    const used = before === null || now === null ? limit : now - before + SOON_MS / 1000;
    late ||= used >= limit || Date.now() - began >= limit * PATIENCE * 1000;
    if (late) kill();
    else if (!stopped) timer = setTimeout(() => void check(), Math.max(100, (limit - used) * 1000));
  };
  let stopped = false;
  let timer = setTimeout(() => void first(), SOON_MS);
  return {
    wasLate: () => late,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Processor time of a process and its children; null where the system doesn't tell (Linux does). */
async function processorSeconds(pid: number): Promise<number | null> {
  try {
    const fields =
      (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ").at(-1)?.split(" ") ?? [];
    const children =
      (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).match(/\d+/g) ?? [];
    const theirs = await Promise.all(children.map((child) => processorSeconds(Number(child))));
    // In ticks, of which a second has 100 on every platform that Node runs on.
    const own = (Number(fields[11]) + Number(fields[12])) / 100;
    return theirs.reduce((sum: number, each) => sum + (each ?? 0), own);
  } catch {
    return null;
  }
}
