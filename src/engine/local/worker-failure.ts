import { ExternalError, receiveError, type SentError } from "../../base/errors.ts";
import { seconds, timeOfDay, type LongWait } from "../../base/waits/long-wait.ts";
import { describeCall, type WorkerRequest } from "./messages.ts";

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
export function deadWorker(name: string, asked: Asked | null, error: unknown): ExternalError {
  const { message, code = "" } = error as { message: string; code?: string };
  if (NO_MEMORY.test(`${code} ${message}`)) return outOfMemory(name, asked, error);
  return new ExternalError("ENGINE_STOPPED", `${name}: ${message}`, { cause: error });
}

/** The error of a worker without progress. */
export function stalledWorker(
  name: string,
  asked: Asked | null,
  { waitedMs, since }: Pick<LongWait, "waitedMs" | "since">,
): ExternalError {
  const call = asked === null ? "" : ` during ${describeCall(asked)}`;
  return new ExternalError(
    "ENGINE_STALLED",
    `${name}: no progress for ${seconds(waitedMs)}, since ${timeOfDay(since)},${call}. Checkpoints are kept: run the same command with --resume. If one pass over a micro-batch needs that long, raise deadlines.engineSeconds or lower engine.microBatchTokens.`,
  );
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
