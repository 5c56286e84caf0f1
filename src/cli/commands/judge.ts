import type { CliCommand } from "../command.ts";
import { addJudgeAgree } from "./judge-agree.ts";
import { addJudgeCheck } from "./judge-check.ts";
import { addJudgeRun } from "./judge-run.ts";

/** `agentrl judge`: a model judges answers, and is itself checked. */
export const judgeCommand: CliCommand = {
  name: "judge",
  register(program, context) {
    const family = program
      .command("judge")
      .summary("let a model judge answers, and see how far it can be trusted")
      .description(
        "Let a model on an OpenAI-compatible server judge answers. Before anything else it is asked about answers whose " +
          "verdict is known, and both rates are printed; status 6: it could not be evaluated.",
      );
    addJudgeRun(family, context);
    addJudgeCheck(family, context);
    addJudgeAgree(family, context);
  },
};
