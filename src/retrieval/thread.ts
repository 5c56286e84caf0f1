/** Worker threads that answer requests in the order in which they come. */
import { parentPort, Worker } from "node:worker_threads";
import { receiveError, sendError, type SentError } from "../base/errors.ts";

/**
 * Starts a thread.
 * @param file its compiled module, from this folder: threads that are started from the sources (tests) run the build beside them.
 * @param errors.ended for a thread that fails or ends; `foreign` for an error in it that is not of our classes.
 */
export function startThread<A>(
  file: string,
  workerData: unknown,
  {
    ended: endedBy,
    foreign = ({ stack }) => new Error(stack),
  }: { ended: (cause: unknown) => Error; foreign?: (failure: SentError) => Error },
): { ask: (request: unknown) => Promise<A>; close: () => Promise<void> } {
  const folder = import.meta.url.replace(/\/src\/(retrieval\/[^/]*)$/, "/dist/$1");
  const worker = new Worker(new URL(file, folder), { workerData });
  const waiting: { resolve: (answer: A) => void; reject: (error: unknown) => void }[] = [];
  let ended: Error | null = null;
  const fail = (cause: unknown): void => {
    ended ??= endedBy(cause);
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  worker.on("message", (reply: { answer: A } | { failure: SentError }) => {
    const asked = waiting.shift();
    if ("answer" in reply) asked?.resolve(reply.answer);
    else asked?.reject(receiveError(reply.failure) ?? foreign(reply.failure));
  });
  worker.on("error", fail);
  worker.on("exit", fail);
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        if (ended === null) worker.postMessage(request);
        else fail(ended);
      }),
    close: async () => {
      await worker.terminate();
    },
  };
}

/** The thread's own side. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- what the caller's side sends
export function answerRequests<R>(answer: (request: R) => Promise<unknown>): void {
  parentPort?.on("message", (request: R) => {
    void answer(request)
      .then(
        (found) => ({ answer: found }),
        (error: unknown) => ({ failure: sendError(error) }),
      )
      .then((reply) => parentPort?.postMessage(reply));
  });
}
