import { Argument } from "commander";
import type { CliCommand } from "../command.ts";

/** `agentrl completion SHELL`: a script by which a shell completes commands, options and their values. */
export const completionCommand: CliCommand = {
  name: "completion",
  register(program) {
    program
      .command("completion")
      .description(
        "Print a script by which a shell completes commands, options, their values and recipe names. Load it in your shell's start-up file: source <(agentrl completion bash).",
      )
      .addArgument(
        new Argument("<shell>", "your shell").choices(["bash", "zsh", "fish", "powershell"]),
      )
      .action(async (shell: string) => {
        const { printScript } = await import("../completion.ts");
        printScript(program.name(), shell);
      });
  },
};
