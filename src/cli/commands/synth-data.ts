import type { CliCommand } from "../command.ts";
import { addSynthAgain } from "./synth-data/again.ts";
import { addSynthDraw } from "./synth-data/draw.ts";
import { addSynthExport } from "./synth-data/export.ts";
import { addSynthReport } from "./synth-data/report.ts";
import { addSynthSelect } from "./synth-data/select.ts";

/** `agentrl synth-data`: a teacher's trajectories for training. */
export const synthDataCommand: CliCommand = {
  name: "synth-data",
  register(program, context) {
    const family = program
      .command("synth-data")
      .summary("make trajectories to learn from")
      .description(
        "Trajectories of a teacher to learn from. Without a subcommand it is `synth-data draw`: its options are listed by " +
          "`agentrl synth-data draw --help`.",
      );
    addSynthDraw(family, context);
    addSynthSelect(family, context);
    addSynthAgain(family, context);
    addSynthExport(family, context);
    addSynthReport(family, context);
  },
};
