import { availableParallelism } from "node:os";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { DeviceName } from "../../onnx/device-names.ts";
import { ExternalError, receiveError, type SentError } from "../../base/errors.ts";
import { handedOver, type WorkerCalls, type WorkerReply, type WorkerRequest } from "./messages.ts";

/** The main thread's end of one worker: typed calls, each answered or failed. */
export interface WorkerLink {
  call<K extends keyof WorkerCalls>(
    call: K,
    argument: WorkerCalls[K][0],
  ): Promise<WorkerCalls[K][1]>;
  close(): Promise<void>;
}

/** Worker threads run compiled code: from the sources (tests), the build beside them is used. */
const entry = new URL(
  "./worker.js",
  import.meta.url.replace(/\/src\/(engine\/local\/[^/]*)$/, "/dist/$1"),
);

/** How long a worker may take to end what it runs before it is cut off. */
const STOP_MS = 10_000;

/** Workers when nobody says how many: one for every core, and where another device computes one in all. */
export function defaultWorkers(device: DeviceName): number {
  return device === "cpu" ? availableParallelism() : 1;
}

export function startWorker(): WorkerLink {
  const worker = new Worker(entry);
  const waiting = new Map<
    number,
    { resolve: (answer: unknown) => void; reject: (error: unknown) => void }
  >();
  let count = 0;
  let ended: ExternalError | null = null;
  const fail = (why: string, cause?: unknown): void => {
    ended = new ExternalError("ENGINE_STOPPED", `engine worker: ${why}`, { cause });
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  worker.on("message", (reply: WorkerReply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("answer" in reply) call?.resolve(reply.answer);
    else call?.reject(receiveError(reply.failure) ?? brokenWorker(reply.failure));
  });
  worker.on("error", (error) => {
    fail(error.message, error);
  });
  worker.on("exit", (code) => {
    fail(`ended with code ${code} before it answered`);
  });
  const call: WorkerLink["call"] = (name, argument) =>
    new Promise((resolve, reject) => {
      if (ended !== null) {
        reject(ended);
        return;
      }
      count += 1;
      waiting.set(count, { resolve: resolve as (answer: unknown) => void, reject });
      const request: WorkerRequest = { id: count, call: name, argument };
      worker.postMessage(request, name === "writeState" ? handedOver(name, argument) : []);
    });
  return {
    call,
    close: async () => {
      const patience = new AbortController();
      const late = setTimeout(STOP_MS, null, { signal: patience.signal }).catch(() => null);
      if (ended === null) await Promise.race([call("stop", null).catch(() => null), late]);
      patience.abort();
      worker.removeAllListeners("exit");
      fail("was closed");
      await worker.terminate();
    },
  };
}

function brokenWorker({ message, stack }: SentError): ExternalError {
  const cause = new Error(message);
  cause.stack = stack;
  return new ExternalError("ENGINE_STOPPED", `engine worker: ${message}`, { cause });
}
