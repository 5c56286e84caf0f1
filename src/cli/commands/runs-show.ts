import { defineCommand } from "../command.ts";
import { jsonFlag } from "../options.ts";

/** Adds `show` to `agentrl runs`. */
export const runsShow = defineCommand({
  name: "show",
  summary: "everything that is known of a run",
  description:
    "Show a run: its overrides with their origins, versions and data, last step, evaluations, checkpoints and " +
    "events, and the command that continues it.",
  args: [["<run>", "run folder"]],
  options: {
    all: ["", "every setting with its origin, not only those that differ from the recipe"],
    json: jsonFlag(),
  },
  async run({ json, all }, context, folder) {
    const { runBlocks } = await import("../../view/documents/run-detail.ts");
    const { readRun } = await import("../../view/runs/run-files.ts");
    const { detailOf } = await import("../../view/runs/run-summary.ts");
    const detail = await detailOf(await readRun(folder));
    context.out(json === true ? JSON.stringify(detail) : runBlocks(detail, all === true));
  },
});
