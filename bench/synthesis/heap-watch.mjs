// Loaded before a program (node --import): collects garbage every two seconds and writes what is left, in MB, with the
// milliseconds since the start, a line each, to the file that HEAP_WATCH names.
import { appendFileSync } from "node:fs";
import { setInterval } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

const file = process.env.HEAP_WATCH;
if (file !== undefined && isMainThread) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  setInterval(() => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    const megabytes = [heapUsed, external].map((bytes) => (bytes / 2 ** 20).toFixed(2));
    appendFileSync(file, `${performance.now().toFixed(0)} ${megabytes.join(" ")}\n`);
  }, 2000).unref();
}
