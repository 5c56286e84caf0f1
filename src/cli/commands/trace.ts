import type { CliCommand } from "../command.ts";
import { addTraceLint } from "./trace-lint.ts";
import { addTraceShow } from "./trace-show.ts";

/** `agentrl trace lint|show`: checks trajectories, and shows them. */
export const traceCommand: CliCommand = {
  name: "trace",
  register(program, context) {
    const trace = program
      .command("trace")
      .summary("check and read trajectories")
      .description("Trajectories of runs, evaluations and syntheses: check them, read them.");
    addTraceLint(trace, context);
    addTraceShow(trace, context);
  },
};
