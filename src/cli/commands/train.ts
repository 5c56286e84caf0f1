import { Option } from "commander";
import { mapAround } from "../../run/evaluation-sets.ts";
import type { HeldOutEvaluation } from "../../run/held-out-evaluation.ts";
import type { RecipeResult } from "../../run/run-recipe.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { trainedBlocks } from "../../view/documents/trained.ts";
import { wholeNumber } from "../options.ts";
import {
  addTrainingOptions,
  showTraining,
  type TrainingFlags,
  trainingSettings,
} from "../training-command.ts";
import { addTrainingDataOptions } from "../training-data.ts";

interface TrainFlags extends TrainingFlags {
  allowIgnored?: true;
  replayBatch?: number;
}

/** `agentrl train`: a recipe's reinforcement learning, evaluated before and after. */
export const trainCommand: CliCommand = {
  name: "train",
  register(program, context) {
    const command = program
      .command("train")
      .description(
        "Train a policy as a recipe says: evaluate, learn from its own searches, evaluate again on the same held-out questions.",
      );
    addTrainingDataOptions(
      addTrainingOptions(command, "run folder; runs/<recipe>-<tier>-seed<N> when absent"),
    )
      .option("--allow-ignored", "do not fail on settings that have no effect")
      .addOption(
        new Option(
          "--replay-batch <step>",
          "do not train: replay the stored batch of one step and compare its metrics with the logged ones",
        )
          .argParser(wholeNumber(1))
          .conflicts(["resume", "overwrite"]),
      )
      .action((recipe: string | undefined, flags: TrainFlags) =>
        trainRecipe(recipe, flags, context),
      );
  },
};

/** Trains as a recipe says, with all output. */
export async function trainRecipe(
  recipe: string | undefined,
  flags: TrainFlags,
  context: CliContext,
): Promise<void> {
  const { runRecipe } = await import("../../run/run-recipe.ts");
  const { resolved, out } = await trainingSettings(recipe, flags, context);
  if (flags.replayBatch !== undefined) {
    const { showReplay } = await import("../batch-replay.ts");
    const json = flags.json === true;
    await showReplay(context, resolved, { run: out, step: flags.replayBatch, json });
    return;
  }
  const { requireRoom } = await import("../../run/checks/require-room.ts");
  await requireRoom(resolved, out);
  const allowIgnored = flags.allowIgnored === true;
  await showTraining(context, {
    flags,
    resolved,
    out,
    json: asJson,
    text: trainedBlocks,
    train: (options) => runRecipe(resolved, { ...options, allowIgnored }),
  });
}

function asJson(result: RecipeResult): unknown {
  const { run, device, steps, checkpoint, wallSeconds, eval: evaluations, stages } = result;
  const flat = ({ n, metrics, groups, fingerprint, readsGold }: HeldOutEvaluation): unknown => {
    return { n, ...metrics, groups, fingerprint, readsGold };
  };
  return {
    run,
    device,
    steps,
    checkpoint,
    wallSeconds,
    eval: mapAround(evaluations, flat),
    stages,
  };
}
