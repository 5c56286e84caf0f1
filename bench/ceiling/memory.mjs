// Loaded with --import into the measured process: writes the most memory that it had and how long its event loop stood still, every .5 s.
import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setInterval } from "node:timers";
import { isMainThread } from "node:worker_threads";

const file = process.env.AGENTRL_BENCH_MEMORY;

if (file !== undefined && isMainThread) {
  const most = {};
  const delay = monitorEventLoopDelay();
  delay.enable();
  const look = () => {
    for (const [name, bytes] of Object.entries(process.memoryUsage()))
      most[name] = Math.max(most[name] ?? 0, bytes);
    writeFileSync(file, JSON.stringify({ ...most, standstillMs: delay.max / 1e6 }));
  };
  setInterval(look, 500).unref();
  process.on("exit", look);
}
