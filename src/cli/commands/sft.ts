import { fineTunedBlocks } from "../../view/documents/trained.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { type Flags, options } from "../options.ts";
import { overridesOf, RECIPE } from "../recipe-options.ts";
import {
  showTraining,
  TRAINING_CONFLICTS,
  trainingOptions,
  trainingSettings,
} from "../training-command.ts";
import { refusedDatasetOption } from "../training-data.ts";

const OPTIONS = options({
  ...trainingOptions("run folder; runs/<recipe>-<tier>-seed<N> when absent"),
  data: [
    "<path>",
    "samples to learn from: the folder of a synthesis, or a file; `agentrl synth-data` makes them from questions",
  ],
});

type SftFlags = Flags<typeof OPTIONS>;

/** `agentrl sft`: supervised fine-tuning. */
export const sftCommand = defineCommand({
  name: "sft",
  description:
    "Fine-tune a policy as a recipe says: on the samples of a file (agentrl synth-data), measuring held-out ones on the way, or stage by stage on a stream of the tiny world's.",
  args: [RECIPE],
  options: OPTIONS,
  conflicts: TRAINING_CONFLICTS,
  more: (command) => command.addOption(refusedDatasetOption({ command: "sft", from: "samples" })),
  run: (flags, context, recipe) => fineTune(recipe, flags, context),
});

/** Fine-tunes as a recipe says, with all output. */
export async function fineTune(
  recipe: string | undefined,
  flags: SftFlags,
  context: CliContext,
): Promise<void> {
  const { runAlone } = await import("../../run/driver.ts");
  const { sftStage } = await import("../../run/stages/shipped.ts");
  const more = overridesOf([["sft.data", flags.data, "--data"]]);
  const { resolved, out } = await trainingSettings(recipe, flags, context, { more });
  await showTraining(context, {
    flags,
    resolved,
    out,
    train: (session) => runAlone(sftStage, resolved, session),
    json: (result, wallSeconds) => ({ run: out, ...result, wallSeconds }),
    text: (result, wallSeconds) => fineTunedBlocks(result, out, wallSeconds),
  });
}
