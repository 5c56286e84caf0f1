import { preferenceBlocks } from "../../view/documents/trained.ts";
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

/** Options of a synthesis that makes pairs: of several draws of a question. */
const PAIRS =
  " --set 'synth.steps=[best-worst-pairs]' --set 'synth.draws=[{ name: plain, samples: 8 }]'";

const OPTIONS = options({
  ...trainingOptions("run folder; runs/<recipe>-<tier>-seed<N>-preference when absent"),
  data: ["<path>", "folder of a synthesis that made pairs, or a file of pairs"],
  validationData: ["<file>", "pairs that are only measured; the folder's own if it has some"],
});

type DpoFlags = Flags<typeof OPTIONS>;

/** `agentrl dpo`: a recipe's training on pairs. */
export const dpoCommand = defineCommand({
  name: "dpo",
  description:
    "Train a policy on pairs of better and worse trajectories, of which only what the policy wrote is compared: DPO, or " +
    "IPO, SimPO, ORPO by preference.loss. The policy that it starts from is the reference. docs/training.md",
  args: [RECIPE],
  options: OPTIONS,
  conflicts: TRAINING_CONFLICTS,
  more: (command) =>
    command.addOption(refusedDatasetOption({ command: "dpo", from: "pairs", synthesis: PAIRS })),
  run: (flags, context, recipe) => trainOnPairs(recipe, flags, context),
});

/** Trains on pairs as a recipe says, with all output. */
export async function trainOnPairs(
  recipe: string | undefined,
  flags: DpoFlags,
  context: CliContext,
): Promise<void> {
  const { runAlone } = await import("../../run/driver.ts");
  const { preferenceStage } = await import("../../run/stages/shipped.ts");
  const more = overridesOf([
    ["preference.data", flags.data, "--data"],
    ["preference.validationData", flags.validationData, "--validation-data"],
  ]);
  const suffix = "-preference";
  const { resolved, out } = await trainingSettings(recipe, flags, context, { more, suffix });
  await showTraining(context, {
    flags,
    resolved,
    out,
    train: (session) => runAlone(preferenceStage, resolved, session),
    json: (result, wallSeconds) => ({ run: out, ...result, wallSeconds }),
    text: (result, wallSeconds) => preferenceBlocks(result, out, wallSeconds),
  });
}
