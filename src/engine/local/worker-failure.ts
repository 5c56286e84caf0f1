import { ExternalError, receiveError, type SentError } from "../../base/errors.ts";
import { seconds, timeOfDay, type LongWait } from "../../base/waits/long-wait.ts";
import { describeCall, type WorkerRequest } from "./messages.ts";

/** How V8, onnxruntime, the C++ library and graphics drivers say that there was no memory. */
const NO_MEMORY =
  /bad[ _]?alloc|out of memory|out-of-memory|OutOfMemory|failed to allocate|allocation failed|cannot allocate memory|ERR_WORKER_OUT_OF_MEMORY/i;

type Asked = Pick<WorkerRequest, "call" | "argument">;

/** The error of a call that a worker answered by a failure. */
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

/** The error of a worker whose thread has died. @param asked the oldest call that waits for it; null: nothing. */
export function deadWorker(name: string, asked: Asked | null, error: unknown): ExternalError {
  const { message, code = "" } = error as { message: string; code?: string };
  if (NO_MEMORY.test(`${code} ${message}`)) return outOfMemory(name, asked, error);
  return new ExternalError("ENGINE_STOPPED", `${name}: ${message}`, { cause: error });
}

/** The error of a worker that gives no sign of life. */
export function stalledWorker(
  name: string,
  asked: Asked | null,
  { waitedMs, since }: Pick<LongWait, "waitedMs" | "since">,
): ExternalError {
  const call = asked === null ? "" : ` while it was asked for ${describeCall(asked)}`;
  return new ExternalError(
    "ENGINE_STALLED",
    `${name}: no sign of life for ${seconds(waitedMs)}, since ${timeOfDay(since)},${call}. Checkpoints are kept: start the same command with --resume. Where one pass over a micro-batch rightly takes that long, raise deadlines.engineSeconds or lower engine.microBatchTokens.`,
  );
}

function outOfMemory(name: string, asked: Asked | null, cause: unknown): ExternalError {
  const { message } = cause as { message: string };
  const call = asked === null ? "" : ` for ${describeCall(asked)}`;
  return new ExternalError(
    "ENGINE_OUT_OF_MEMORY",
    `${name}: out of memory${call} (${message}). Lower engine.microBatchTokens, engine.slots or engine.workers, or set engine.recompute; \`agentrl recipes plan\` forecasts what a recipe takes. Checkpoints are kept: --resume goes on from them.`,
    { cause: cause instanceof Error ? cause : undefined },
  );
}

function withStack({ message, stack }: SentError): Error {
  const error = new Error(message);
  error.stack = stack;
  return error;
}
