import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { defineReporter, z } from "agentrl";

export default defineReporter({
  name: "short-log",
  summary: "A text file in the run's folder with one line per step.",
  options: z.strictObject({ file: z.string().default("short.log") }),
  // A run never waits for a reporter: `metrics`, `evaluation` and `event` return at once, `close` delivers the rest.
  open({ file }, { out }) {
    let lines = "";
    return {
      metrics(step, data) {
        lines += `${step} ${data["rollout/reward_mean"] ?? "-"}\n`;
      },
      close: () => appendFile(join(out, file), lines),
    };
  },
});
