import { fineTunedBlocks } from "../../view/documents/trained.ts";
import type { CliCommand } from "../command.ts";
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
        .summary("fine-tune a policy on trajectories that a teacher wrote")
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
      .action(async (recipe: string | undefined, flags: SftFlags) => {
        const { runSft } = await import("../../run/sft/run-sft.ts");
        const { data } = flags;
        const { resolved, out } = await trainingSettings(recipe, flags, context, {
          more: data === undefined ? [] : [{ key: "sft.data", value: data, origin: "--data" }],
        });
        await showTraining(context, {
          flags,
          resolved,
          out,
          train: (options) => runSft(resolved, options),
          json: (result, wallSeconds) => ({ run: out, ...result, wallSeconds }),
          text: (result, wallSeconds) => fineTunedBlocks(result, out, wallSeconds),
        });
      });
  },
};
