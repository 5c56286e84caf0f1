/** The worker thread that makes runs from passages, for `workerRunWriter`. */
import { workerData } from "node:worker_threads";
import { analyzers } from "../../text/analyzer.ts";
import { writeFailure } from "../store/index-folder.ts";
import { answerRequests } from "../thread.ts";
import { localRunWriter, type RunRequest, type WrittenRun } from "./corpus-writer.ts";

const writer = localRunWriter(analyzers.get(workerData as string, "analyzer"));

answerRequests(async (request: RunRequest): Promise<WrittenRun | null> => {
  try {
    if (typeof request === "string") return await writer.write(request);
    await writer.add(request);
    return null;
  } catch (error) {
    // Disk full, say: of our own class it stays what it is on the way between threads.
    throw writeFailure(typeof request === "string" ? request : "index", error);
  }
});
