// One measurement in a process of its own: what runs out of memory, or takes its process with it, leaves the others alone.
import { check } from "./check.mjs";
import { sample } from "./sample.mjs";
import { steps } from "./steps.mjs";
import { train } from "./train.mjs";

const measurements = { check, sample, steps, train };
const send = (message) => new Promise((resolve) => process.send(message, resolve));

process.once("message", async (job) => {
  try {
    await measurements[job.measure](job, (row) => void send({ row }));
    const { maxRSS } = process.resourceUsage();
    await send({ done: { hostPeakMiB: Math.round(maxRSS / 1024) } });
  } catch (error) {
    await send({ failed: error.message, code: error.code });
  }
  // Not by itself: a graphics driver's threads may stay.
  process.exit(0);
});
