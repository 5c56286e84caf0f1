import { availableParallelism } from "node:os";
import { setTimeout } from "node:timers/promises";
import { type ResourceLimits, Worker } from "node:worker_threads";
import { ExternalError, type SentError, receiveError } from "../../base/errors.ts";
import "../../base/telemetry.ts";
import { type LongWait, seconds, timeOfDay } from "../../base/waits/long-wait.ts";
import { noteStuckThread } from "../../base/waits/stuck-threads.ts";
import { type OpenWait, type Waits, waits } from "../../base/waits/waits.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import { type WorkerData, beatsOf, heartbeat } from "./heartbeat.ts";
import {
  type WorkerCalls,
  type WorkerReply,
  type WorkerRequest,
  describeCall,
  handedOver,
} from "./messages.ts";
import { isSmall } from "./model-weights.ts";

/** The main thread's side of a worker: typed calls. */
export interface WorkerLink {
  /** @throws {ExternalError} ENGINE_STALLED past the deadline, ENGINE_OUT_OF_MEMORY, ENGINE_STOPPED; then every later call throws it too. */
  call<K extends keyof WorkerCalls>(
    call: K,
    argument: WorkerCalls[K][0],
  ): Promise<WorkerCalls[K][1]>;
  close(): Promise<void>;
}

export interface WorkerOptions {
  name: string;
  stallMs: number | null;
  entry?: URL;
  resourceLimits?: ResourceLimits;
  register?: Waits;
}

/** Worker threads run compiled code; tests that run from the sources use the build as well. */
const workerEntry = new URL(
  "./worker.js",
  import.meta.url.replace(/\/src\/(engine\/local\/[^/]*)$/, "/dist/$1"),
);

const STOP_MS = 10_000;

const CUT_MS = 5000;

/** One worker per core for a small model on the CPU; one with all cores for a large one, and on another device. */
export function defaultWorkers(device: DeviceName, config: DecoderConfig): number {
  return device === "cpu" && isSmall(config) ? availableParallelism() : 1;
}

interface Waiting {
  request: WorkerRequest;
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
}

export function startWorker(options: WorkerOptions): WorkerLink {
  const { name, stallMs, entry = workerEntry, resourceLimits = {}, register = waits } = options;
  const workerData: WorkerData = { heartbeat: heartbeat() };
  const worker = new Worker(entry, { workerData, resourceLimits });
  const waiting = new Map<number, Waiting>();
  let count = 0;
  let replies = 0;
  let ended: ExternalError | null = null;
  let wait: OpenWait | null = null;
  const oldest = (): WorkerRequest | null => waiting.values().next().value?.request ?? null;
  const subject = (): string => {
    const request = oldest();
    const others = waiting.size > 1 ? ` and ${waiting.size - 1} more` : "";
    return request === null ? "nothing" : describeCall(request) + others;
  };
  const fail = (error: ExternalError): void => {
    ended ??= error;
    wait?.end();
    wait = null;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  let cut: Promise<void> | null = null;
  const cutOff = (patienceMs: number | null): Promise<void> =>
    (cut ??= cutThread(worker, patienceMs));
  const watch = (): OpenWait =>
    register.begin(
      { owner: name, subject },
      {
        deadlineMs: stallMs,
        progress: () => replies + beatsOf(workerData.heartbeat),
        onDeadline: (waited) => {
          fail(stalledWorker(name, oldest(), waited));
          void cutOff(CUT_MS);
        },
      },
    );
  worker.on("message", (reply: WorkerReply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    replies += 1;
    if (waiting.size === 0) {
      wait?.end();
      wait = null;
    }
    if ("answer" in reply) call?.resolve(reply.answer);
    else call?.reject(answeredFailure(name, call.request, reply.failure));
  });
  worker.on("error", (error) => {
    fail(deadWorker(name, oldest(), error));
  });
  worker.on("exit", (code) => {
    const message = `ended with code ${code} before it answered`;
    fail(deadWorker(name, oldest(), { message }));
  });
  const call: WorkerLink["call"] = (asked, argument) =>
    new Promise((resolve, reject) => {
      if (ended !== null) {
        reject(ended);
        return;
      }
      count += 1;
      const request: WorkerRequest = { id: count, call: asked, argument };
      waiting.set(count, { request, resolve: resolve as Waiting["resolve"], reject });
      wait ??= watch();
      worker.postMessage(request, asked === "writeState" ? handedOver(asked, argument) : []);
    });
  return {
    call,
    async close() {
      if (ended === null) await within(STOP_MS, call("stop", null));
      fail(new ExternalError("ENGINE_STOPPED", `${name}: closed`));
      await cutOff(stallMs);
    },
  };
}

/** Terminates a worker's thread. A thread that hangs in a system call cannot be terminated and would block Node's exit, so it is noted. */
async function cutThread(worker: Worker, patienceMs: number | null): Promise<void> {
  const over = worker.terminate();
  if (!(await within(patienceMs, over))) noteStuckThread(over);
}

async function within(ms: number | null, work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  if (ms === null) return settled;
  const patience = new AbortController();
  const late = setTimeout(ms, false, { signal: patience.signal }).catch(() => true);
  const isDone = await Promise.race([settled, late]);
  patience.abort();
  return isDone;
}

/** Out-of-memory messages of V8, onnxruntime, the C++ library and graphics drivers. */
const NO_MEMORY =
  /bad[ _]?alloc|out of memory|out-of-memory|OutOfMemory|failed to allocate|allocation failed|cannot allocate memory|ERR_WORKER_OUT_OF_MEMORY/i;

type Asked = Pick<WorkerRequest, "call" | "argument">;

/** The error of a call that failed in the worker. */
export function answeredFailure(name: string, asked: Asked, failure: SentError): Error {
  const known = receiveError(failure);
  const isRuntime = known === null || known.code === "RUNTIME_FAILED";
  if (isRuntime && NO_MEMORY.test(failure.message))
    return outOfMemory(name, asked, known ?? failure);
  if (known !== null) return known;
  return new ExternalError("ENGINE_STOPPED", `${name}: ${failure.message}`, {
    cause: withStack(failure),
  });
}

/** The error of a worker whose thread has died. @param asked its oldest pending call; null: none. */
function deadWorker(name: string, asked: Asked | null, error: unknown): ExternalError {
  const { message, code = "" } = error as { message: string; code?: string };
  if (NO_MEMORY.test(`${code} ${message}`)) return outOfMemory(name, asked, error);
  return new ExternalError("ENGINE_STOPPED", `${name}: ${message}`, { cause: error });
}

function stalledWorker(
  name: string,
  asked: Asked | null,
  { waitedMs, since }: Pick<LongWait, "waitedMs" | "since">,
): ExternalError {
  const call = asked === null ? "" : ` during ${describeCall(asked)}`;
  const message = `${name}: no progress for ${seconds(waitedMs)}, since ${timeOfDay(since)},${call}. Checkpoints are kept: run the same command with --resume. If one pass over a micro-batch needs that long, raise deadlines.engineSeconds or lower engine.microBatchTokens.`;
  return new ExternalError("ENGINE_STALLED", message);
}

function outOfMemory(name: string, asked: Asked | null, cause: unknown): ExternalError {
  const { message } = cause as { message: string };
  const call = asked === null ? "" : ` for ${describeCall(asked)}`;
  return new ExternalError(
    "ENGINE_OUT_OF_MEMORY",
    `${name}: out of memory${call} (${message}). Lower engine.microBatchTokens, engine.slots or engine.workers, or set engine.recompute; \`agentrl recipes plan\` estimates a recipe's memory. Checkpoints are kept: --resume continues from them.`,
    { cause: cause instanceof Error ? cause : undefined },
  );
}

function withStack({ message, stack }: SentError): Error {
  const error = new Error(message);
  error.stack = stack;
  return error;
}
