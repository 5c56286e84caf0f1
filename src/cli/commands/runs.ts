import type { CliCommand } from "../command.ts";
import { addRunsList } from "./runs-list.ts";
import { addRunsReport } from "./runs-report.ts";
import { addRunsShow } from "./runs-show.ts";

/** `agentrl runs list|show|report`: lists runs, shows one, and compares several on a page. */
export const runsCommand: CliCommand = {
  name: "runs",
  register(program, context) {
    const runs = program
      .command("runs")
      .summary("list, show and compare runs")
      .description(
        "Runs of agentrl train, sft and dpo: a list, the state of one, and a page to compare several. Nothing in a run's " +
          "folder is changed, so runs under way can be looked at.",
      );
    addRunsList(runs, context);
    addRunsShow(runs, context);
    addRunsReport(runs, context);
  },
};
