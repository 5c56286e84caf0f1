/**
 * A Python interpreter (CPython as WebAssembly) in a process of its own, that answers requests, one line of JSON each, through pipes
 * of its own: standard input would be read without waiting once the interpreter's runtime has looked at it. It begins from a snapshot of
 * memory, which comes through a third pipe.
 * Everything that could reach the host is taken away before the first program runs; `startPython` starts it.
 */
import fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { Worker } from "node:worker_threads";
import { loadPyodide } from "pyodide";
import { HARNESS, START } from "./harness.ts";

const [memoryBytes = 0, outputBytes = 0] = process.argv.slice(2).map(Number);
const [REQUESTS, REPLIES, SNAPSHOT] = [3, 4, 5];
const { readFileSync, readSync, writeSync } = fs;
const { reallyExit } = process as unknown as { reallyExit: (code: number) => never };
const decoder = new TextDecoder();
const exit = reallyExit.bind(process);

endWithParent();
limitMemory();
// Begun from, an interpreter is there in half a second; without one it takes four.
const snapshot = readFileSync(SNAPSHOT);
const python = await loadPyodide({
  ...START,
  ...(snapshot.length > 0 && { _loadSnapshot: snapshot }),
});
let written: Uint8Array[] = [];
let kept = 0;
const capture = {
  write: (bytes: Uint8Array) => {
    const room = Math.max(0, outputBytes + 1 - kept);
    if (room > 0) written.push(bytes.slice(0, room));
    kept += Math.min(bytes.length, room);
    return bytes.length;
  },
};
python.setStdout(capture);
python.setStderr(capture);
python.setStdin({ stdin: () => null });
const run = python.runPython(HARNESS) as (request: string, begin: () => void) => string;
python.unregisterJsModule("js");
python.unregisterJsModule("pyodide_js");
closeHost();
freezeLanguage();
try {
  serve();
  exit(0);
} catch (error) {
  writeSync(2, error instanceof Error ? (error.stack ?? error.message) : String(error));
  exit(1);
}

function serve(): void {
  reply({ ready: true });
  for (const line of requests()) {
    const begin = (): void => {
      written = [];
      kept = 0;
    };
    begin();
    const { error, tainted, answer } = JSON.parse(run(line, begin)) as {
      error?: [name: string, text: string] | null;
      tainted?: boolean;
      answer?: string | null;
    };
    const text = withoutAddresses(decoder.decode(Buffer.concat(written)));
    reply({
      text: text.slice(0, outputBytes),
      cut: kept > outputBytes,
      error: error?.map((each) => withoutAddresses(each.slice(0, outputBytes))) ?? null,
      tainted,
      answer: answer === null ? undefined : answer?.slice(0, outputBytes),
    });
  }
}

/** Read without an event loop: no program runs on behind its call. */
function* requests(): Generator<string> {
  const chunk = Buffer.alloc(65_536);
  let rest = Buffer.alloc(0);
  for (;;) {
    const at = rest.indexOf(10);
    if (at >= 0) {
      yield rest.subarray(0, at).toString();
      rest = rest.subarray(at + 1);
      continue;
    }
    const count = readSync(REQUESTS, chunk);
    if (count === 0) return;
    rest = Buffer.concat([rest, chunk.subarray(0, count)]);
  }
}

/** Places in memory differ between equal episodes. @example "<object object at 0x133de10>" → "<object object at 0x…>" */
function withoutAddresses(text: string): string {
  return text.replace(/ at 0x[0-9a-f]+/g, " at 0x…");
}

function reply(message: object): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let at = 0; at < bytes.length;) at += writeSync(REPLIES, bytes, at);
}

/** A busy interpreter doesn't see that its parent has ended; another thread does. */
function endWithParent(): void {
  const watch = `setInterval(() => { if (process.ppid !== ${process.ppid}) process.kill(process.pid, "SIGKILL"); }, 500);`;
  new Worker(watch, { eval: true, stdin: false, env: {} }).unref();
}

/** A memory that may not grow gives the program a MemoryError. */
function limitMemory(): void {
  type Memory = { buffer: ArrayBuffer; grow: (this: Memory, pages: number) => number };
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { Memory: { prototype: Memory } };
  };
  const { prototype } = WebAssembly.Memory;
  const { grow } = prototype;
  prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * 65_536 > memoryBytes) throw new RangeError("memory limit");
    return grow.call(this, pages);
  };
}

/** Nobody may change what objects, lists and functions of JavaScript are, which this file uses. */
function freezeLanguage(): void {
  const kinds = [
    Object,
    Array,
    Function,
    String,
    Number,
    Boolean,
    RegExp,
    Promise,
    Map,
    Set,
    Error,
    Buffer,
    Uint8Array,
  ];
  for (const kind of [...kinds, TextDecoder]) {
    Object.freeze(kind.prototype);
    Object.freeze(kind);
  }
  Object.freeze(JSON);
}

/** Takes files, network, processes and code from text away from whatever finds a way out of the interpreter. */
function closeHost(): void {
  const denied = (): never => {
    throw new Error("not available in the sandbox");
  };
  const require = createRequire(import.meta.url);
  const names = [
    ...[
      "child_process",
      "cluster",
      "dgram",
      "dns",
      "fs",
      "fs/promises",
      "http",
      "http2",
      "https",
      "inspector",
    ],
    ...["module", "net", "os", "repl", "tls", "v8", "vm", "wasi", "worker_threads"],
  ];
  for (const found of names.map((name) => require(`node:${name}`) as Record<string, unknown>)) {
    const { prototype } = (found["Socket"] ?? found["Module"] ?? {}) as {
      prototype?: Record<string, unknown>;
    };
    for (const key of Object.getOwnPropertyNames(prototype ?? {}))
      if (prototype !== undefined && key !== "constructor") override(prototype, key, denied);
    for (const key of Object.getOwnPropertyNames(found))
      if (typeof found[key] === "function" || key === "promises") override(found, key, denied);
  }
  syncBuiltinESMExports();
  // Not by reading them: the first look at process.stdin would make it answer at once, without data.
  for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(process)))
    if (typeof value === "function") override(process, key, denied);
  for (const key of [
    "env",
    "argv",
    "execArgv",
    "execPath",
    "mainModule",
    "stdin",
    "stdout",
    "stderr",
    "report",
    "config",
  ])
    override(process, key, undefined);
  for (const key of [
    "process",
    "fetch",
    "WebSocket",
    "EventSource",
    "XMLHttpRequest",
    "require",
    "navigator",
  ])
    override(globalThis, key, undefined);
}

function override(target: object, key: string, value: unknown): void {
  try {
    Object.defineProperty(target, key, { value, configurable: false, writable: false });
  } catch {
    // It can't be changed by anybody.
  }
}
