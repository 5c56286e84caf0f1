import type { Command } from "commander";
import type { CliContext } from "../command.ts";
import { jsonOption } from "../options.ts";

/** Adds `show` to `agentrl runs`. */
export function addRunsShow(parent: Command, context: CliContext): void {
  parent
    .command("show")
    .summary("everything that is known of a run")
    .description(
      "Show a run: its overrides with their origins, versions and data, last step, evaluations, checkpoints and " +
        "events, and the command that continues it.",
    )
    .argument("<run>", "run folder")
    .option("--all", "every setting with its origin, not only those that differ from the recipe")
    .addOption(jsonOption())
    .action(async (folder: string, { json, all }: { json?: true; all?: true }) => {
      const { runBlocks } = await import("../../view/documents/run-detail.ts");
      const { readRun } = await import("../../view/runs/run-files.ts");
      const { detailOf } = await import("../../view/runs/run-detail.ts");
      const detail = await detailOf(await readRun(folder));
      context.out(json === true ? JSON.stringify(detail) : runBlocks(detail, all === true));
    });
}
