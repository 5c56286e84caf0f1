// Loaded into a process by --import: when it ends, what it took goes to the file that BENCH_USAGE names.
import { writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env.BENCH_USAGE;
if (isMainThread && file !== undefined) {
  process.on("exit", () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const usage = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakBytes: 1024 * maxRSS };
    writeFileSync(file, JSON.stringify({ ...usage, wallSeconds: performance.now() / 1000 }));
  });
}
