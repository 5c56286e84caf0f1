import { availableParallelism, cpus, loadavg } from "node:os";

/** Runs `work` `times` times. Seconds of the best and of the median run: the best is what the machine can do undisturbed. */
export async function timed(times, work) {
  const seconds = [];
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    await work(i);
    seconds.push((performance.now() - start) / 1000);
  }
  seconds.sort((a, b) => a - b);
  return { best: seconds[0], median: seconds[Math.floor(seconds.length / 2)] };
}

/** What the figures depend on beside the code. */
export function machine() {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    node: process.version,
    load: loadavg().map((each) => Number(each.toFixed(2))),
  };
}
