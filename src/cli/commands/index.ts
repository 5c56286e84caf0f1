import type { CommandGroup } from "../command.ts";
import { askCommand } from "./ask.ts";
import { completionCommand } from "./completion.ts";
import { dataCommand } from "./data.ts";
import { doctorCommand } from "./doctor.ts";
import { dpoCommand } from "./dpo.ts";
import { evalCommand } from "./eval.ts";
import { indexCommand } from "./index-command.ts";
import { initCommand } from "./init.ts";
import { judgeCommand } from "./judge.ts";
import { modelsCommand } from "./models.ts";
import { newCommand } from "./new.ts";
import { resumeCommand } from "./resume.ts";
import { recipesCommand } from "./recipes.ts";
import { reproduceCommand } from "./reproduce.ts";
import { rewardCommand } from "./reward.ts";
import { runsCommand } from "./runs.ts";
import { scoreCommand } from "./score.ts";
import { serveCommand } from "./serve.ts";
import { sftCommand } from "./sft.ts";
import { synthDataCommand } from "./synth-data.ts";
import { traceCommand } from "./trace.ts";
import { trainCommand } from "./train.ts";

/** The one list of commands, in the order of help: add a new command to the group of its purpose. */
export const commandGroups: readonly CommandGroup[] = [
  {
    title: "Data, models and search",
    commands: [initCommand, dataCommand, modelsCommand, indexCommand, serveCommand],
  },
  {
    title: "Training",
    commands: [synthDataCommand, sftCommand, dpoCommand, trainCommand, resumeCommand],
  },
  {
    title: "Measuring",
    commands: [askCommand, evalCommand, scoreCommand, judgeCommand, reproduceCommand],
  },
  {
    title: "Looking",
    commands: [runsCommand, traceCommand, recipesCommand, rewardCommand, doctorCommand],
  },
  { title: "Your own parts and shell", commands: [newCommand, completionCommand] },
];
