import tab from "@bomb.sh/tab";
import tabOf from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { shippedRecipes } from "../run/settings/recipe-file.ts";

/** Prints the script that a shell loads. It asks `agentrl complete -- WORDS` on every TAB. */
export function printScript(program: string, shell: string): void {
  tab.setup(program, program, shell);
}

/** Adds the hidden command that answers a TAB: the program's own commands, options and choices, and recipe names. */
export function addCompletion(program: Command): void {
  // The library also adds its own printer of scripts, which nobody needs beside ours.
  const completion = tabOf(program, { completionCommandName: "completion-script" });
  const recipes = shippedRecipes();
  for (const { options, arguments: given } of completion.commands.values()) {
    for (const each of [options.get("recipe"), given.get("recipe")]) {
      if (each === undefined) continue;
      each.handler = (complete) => {
        for (const name of recipes) complete(name, "");
      };
    }
  }
}
