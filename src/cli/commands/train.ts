import { mapAround } from "../../run/evaluation-sets.ts";
import type { HeldOutEvaluation } from "../../run/held-out-evaluation.ts";
import type { RecipeResult } from "../../run/run-recipe.ts";
import { trainedBlocks } from "../../view/documents/trained.ts";
import { notePaper } from "../paper-notes.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { type Flags, options, wholeNumber } from "../options.ts";
import { RECIPE } from "../recipe-options.ts";
import {
  showTraining,
  TRAINING_CONFLICTS,
  trainingOptions,
  trainingSettings,
} from "../training-command.ts";
import { TRAINING_DATA_OPTIONS } from "../training-data.ts";

const OPTIONS = options({
  ...trainingOptions("run folder; runs/<recipe>-<tier>-seed<N> when absent"),
  ...TRAINING_DATA_OPTIONS,
  allowIgnored: ["", "do not fail on settings that have no effect"],
  replayBatch: [
    "<step>",
    "do not train: replay the stored batch of one step and compare its metrics with the logged ones",
    wholeNumber(1),
  ],
});

type TrainFlags = Flags<typeof OPTIONS>;

/** `agentrl train`: a recipe's reinforcement learning, evaluated before and after. */
export const trainCommand = defineCommand({
  name: "train",
  description:
    "Train a policy as a recipe says: evaluate, learn from its own searches, evaluate again on the same held-out questions.",
  args: [RECIPE],
  options: OPTIONS,
  conflicts: { ...TRAINING_CONFLICTS, replayBatch: ["resume", "overwrite"] },
  run: (flags, context, recipe) => trainRecipe(recipe, flags, context),
});

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
  const { requirePaper } = await import("../../run/checks/paper-tier.ts");
  if (flags.resume !== true) await requirePaper(resolved);
  await notePaper(resolved, context);
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
