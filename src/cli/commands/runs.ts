import type { CliCommand } from "../command.ts";
import { addRunsList } from "./runs-list.ts";
import { addRunsReport } from "./runs-report.ts";
import { addRunsShow } from "./runs-show.ts";

/** `agentrl runs list|show|report`: which runs there are, how one stands, and several to compare by looking. */
export const runsCommand: CliCommand = {
  name: "runs",
  register(program, context) {
    const runs = program
      .command("runs")
      .summary("list, show and compare runs")
      .description(
        "Runs of agentrl train, sft and dpo: which there are, how one stands, and a page to compare them by. Nothing in a run's " +
          "folder is changed, so runs under way can be looked at.",
      );
    addRunsList(runs, context);
    addRunsShow(runs, context);
    addRunsReport(runs, context);
  },
};
