/** The worker thread that makes runs from passages; `corpus-writer.ts` is the other end of its port. */
import { parentPort, workerData } from "node:worker_threads";
import { sendError } from "../../base/errors.ts";
import { analyzers } from "../../text/analyzer.ts";
import { writeFailure } from "../store/index-folder.ts";
import { localRunWriter, type RunAnswer, type RunRequest } from "./corpus-writer.ts";

const port = parentPort;
if (port === null) throw new Error("analysis-worker.ts runs as a worker thread");
const writer = localRunWriter(analyzers.get(workerData as string, "analyzer"));

port.on("message", (request: RunRequest) => {
  void answer(request).then((reply) =>
    port.postMessage(reply, reply.kind === "written" ? [reply.lengths.buffer] : []),
  );
});

async function answer(request: RunRequest): Promise<RunAnswer> {
  try {
    if (request.kind === "add") {
      await writer.add(request.batch);
      return { kind: "added" };
    }
    return { kind: "written", ...(await writer.write(request.path)) };
  } catch (error) {
    const where = request.kind === "write" ? request.path : "index";
    // Disk full, say: of our own class it stays what it is on the way between threads.
    return { kind: "failed", error: sendError(writeFailure(where, error)) };
  }
}
