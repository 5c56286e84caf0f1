import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { jsonOption } from "../options.ts";

interface ResumeFlags {
  plain?: true;
  json?: true;
}

/** `agentrl resume`: continues any run from what its folder holds. */
export const resumeCommand: CliCommand = {
  name: "resume",
  register(program, context) {
    program
      .command("resume")
      .summary("continue a run from its folder")
      .description(
        "Continue an interrupted run from what its folder holds: a training from its newest checkpoint, a synthesis with the draws and an " +
          "evaluation with the rows that are missing, a run of stages with the first that has not ended. Settings are those of the folder.",
      )
      .argument("<run>", "folder of the run")
      .option("--plain", "print a line per step instead of the live view")
      .addOption(jsonOption())
      .action((run: string, flags: ResumeFlags) => resume(run, flags, context));
  },
};

async function resume(run: string, flags: ResumeFlags, context: CliContext): Promise<void> {
  const { originOfRun, readRunFile, RESOLVED_FILE } = await import("../../run/folder/run-file.ts");
  const origin = await originOfRun(run);
  if (origin === null) {
    throw new ConfigError(
      "USAGE",
      `${run}: holds no run that has started. Give the folder of a run; agentrl runs list FOLDER finds them.`,
    );
  }
  const recipe = join(run, RESOLVED_FILE);
  const given = { ...flags, recipe, out: run, resume: true } as const;
  const [stage] = (await readRunFile(run)) ?? [];
  switch (origin.kind) {
    case "synth": {
      const { drawSamples } = await import("./synth-data/draw.ts");
      return drawSamples(
        { ...given, dropped: stage?.options["keepDropped"] === true || undefined },
        context,
      );
    }
    case "evaluate": {
      const { settingsOf } = await import("../recipe-options.ts");
      const { evaluateResolved } = await import("./eval.ts");
      return evaluateResolved(
        await settingsOf({ recipe }),
        { ...given, ...stage?.options },
        context,
      );
    }
    case "sft": {
      const { fineTune } = await import("./sft.ts");
      return fineTune(recipe, given, context);
    }
    case "preference": {
      const { trainOnPairs } = await import("./dpo.ts");
      return trainOnPairs(recipe, given, context);
    }
    default: {
      const { trainRecipe } = await import("./train.ts");
      return trainRecipe(recipe, given, context);
    }
  }
}
