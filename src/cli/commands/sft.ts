import { fineTunedBlocks } from "../../view/documents/trained.ts";
import type { CliCommand, CliContext } from "../command.ts";
import {
  addTrainingOptions,
  showTraining,
  type TrainingFlags,
  trainingSettings,
} from "../training-command.ts";
import { refusedDatasetOption } from "../training-data.ts";

interface SftFlags extends TrainingFlags {
  data?: string;
}

/** `agentrl sft`: supervised fine-tuning. */
export const sftCommand: CliCommand = {
  name: "sft",
  register(program, context) {
    addTrainingOptions(
      program
        .command("sft")
        .description(
          "Fine-tune a policy as a recipe says: on the samples of a file (agentrl synth-data), measuring held-out ones on the way, or stage by stage on a stream of the tiny world's.",
        ),
      "run folder; runs/<recipe>-<tier>-seed<N> when absent",
    )
      .option(
        "--data <path>",
        "samples to learn from: the folder of a synthesis, or a file; `agentrl synth-data` makes them from questions",
      )
      .addOption(refusedDatasetOption({ command: "sft", from: "samples" }))
      .action((recipe: string | undefined, flags: SftFlags) => fineTune(recipe, flags, context));
  },
};

/** Fine-tunes as a recipe says, with all output. */
export async function fineTune(
  recipe: string | undefined,
  flags: SftFlags,
  context: CliContext,
): Promise<void> {
  const { runAlone } = await import("../../run/driver.ts");
  const { sftStage } = await import("../../run/stages/shipped.ts");
  const { data } = flags;
  const { resolved, out } = await trainingSettings(recipe, flags, context, {
    more: data === undefined ? [] : [{ key: "sft.data", value: data, origin: "--data" }],
  });
  await showTraining(context, {
    flags,
    resolved,
    out,
    train: (session) => runAlone(sftStage, resolved, session),
    json: (result, wallSeconds) => ({ run: out, ...result, wallSeconds }),
    text: (result, wallSeconds) => fineTunedBlocks(result, out, wallSeconds),
  });
}
