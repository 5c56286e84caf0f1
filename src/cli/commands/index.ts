import type { CommandGroup } from "../command.ts";
import { dataCommand } from "./data.ts";
import { doctorCommand } from "./doctor.ts";
import { recipesCommand } from "./recipes.ts";

/** The one list of commands, in the order of help: add yours to the group whose purpose it serves. */
export const commandGroups: readonly CommandGroup[] = [
  { title: "Data and search", commands: [dataCommand] },
  { title: "Training", commands: [] },
  { title: "Measuring", commands: [] },
  { title: "Looking", commands: [recipesCommand, doctorCommand] },
];
