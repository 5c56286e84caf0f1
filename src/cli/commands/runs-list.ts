import { errorMessage } from "../../base/errors.ts";
import { defineCommand } from "../command.ts";
import { jsonFlag } from "../options.ts";

/** The default folder of runs. */
const RUNS_FOLDER = "runs";

/** Adds `list` to `agentrl runs`. */
export const runsList = defineCommand({
  name: "list",
  summary: "runs below a folder",
  description:
    "Every run below a folder, the newest last, the stages of a run under it: steps, state, EM on held-out questions before and " +
    "after, when it was last written to, size on disk. A folder that cannot be read is listed with the reason.",
  args: [["[folder]", `where to look (default: ${RUNS_FOLDER})`]],
  options: { json: jsonFlag() },
  async run({ json }, context, place = RUNS_FOLDER) {
    const { runListBlocks } = await import("../../view/documents/run-detail.ts");
    const { findRuns } = await import("../../view/runs/run-files.ts");
    const { readRun } = await import("../../view/runs/run-files.ts");
    const { summaryOf } = await import("../../view/runs/run-summary.ts");
    const runs = [];
    const unread: { path: string; trouble: string }[] = [];
    for (const path of await findRuns(place)) {
      context.signal.throwIfAborted();
      try {
        runs.push(await summaryOf(await readRun(path)));
      } catch (error) {
        unread.push({ path, trouble: errorMessage(error) });
      }
    }
    runs.sort((a, b) => a.updatedAt.localeCompare(b.updatedAt));
    if (json === true) context.out(JSON.stringify({ folder: place, runs, unread }));
    else context.out(runListBlocks(runs, unread, place));
  },
});
