import { defineCommand } from "../command.ts";
import {} from "../options.ts";

/** `agentrl completion SHELL`: a script by which a shell completes commands, options and their values. */
export const completionCommand = defineCommand({
  name: "completion",
  description:
    "Print a script by which a shell completes commands, options, their values and recipe names. Load it in your shell's start-up file: source <(agentrl completion bash).",
  args: [["<shell>", "your shell", ["bash", "zsh", "fish", "powershell"]]],
  options: {},
  async run(_, __, shell) {
    const { printScript } = await import("../completion.ts");
    printScript("agentrl", shell);
  },
});
