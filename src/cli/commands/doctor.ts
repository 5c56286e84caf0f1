import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import type { CliCommand } from "../command.ts";

/** `agentrl doctor`: whether this machine can run what the package needs. */
export const doctorCommand: CliCommand = {
  name: "doctor",
  register(program, context) {
    program
      .command("doctor")
      .summary("check this machine")
      .action(async () => {
        await access(tmpdir(), constants.W_OK);
        context.out(`${availableParallelism()} ${totalmem()}`);
      });
  },
};
