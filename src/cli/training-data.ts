import { Option } from "commander";
import { loadRecipe, tiersOf } from "../run/settings/recipe-file.ts";
import type { Override } from "../run/settings/settings.ts";
import { datasetOf, QUESTION_OPTIONS } from "./data-flags.ts";
import { type Flags, options, refuseStray } from "./options.ts";
import { settingsOf } from "./recipe-options.ts";
import { indexRetriever } from "./synth-flags.ts";
import { usage } from "./usage.ts";

/** Options for training on the user's own questions. */
export const TRAINING_DATA_OPTIONS = options({
  dataset: [
    "<file>",
    "question file of your own to train on; every fifth question is held out for the evaluations",
  ],
  index: [
    "<folder>",
    "what searches answer from, made by `agentrl index build` (default: the contexts in --dataset)",
  ],
  ...QUESTION_OPTIONS,
});

export type TrainingDataFlags = Flags<typeof TRAINING_DATA_OPTIONS>;

/**
 * --dataset of sft and dpo. It is refused: they learn from what a teacher wrote, and a question file does not have that.
 * @param learns the command and its data: the folder of a synthesis with these options has them.
 */
export function refusedDatasetOption(learns: {
  command: string;
  from: string;
  synthesis?: string;
}): Option {
  const { command, from, synthesis = "" } = learns;
  return new Option("--dataset <file>").hideHelp().argParser((file: string) => {
    throw usage(
      `--dataset is ${file}: ${command} learns from ${from} that a teacher wrote, and a question file has none. agentrl init --questions ${file} writes a recipe, agentrl.yaml, and holds out every fifth question. Then agentrl synth-data --recipe agentrl.yaml --teacher NAME${synthesis} --out DRAWS makes the ${from}, and agentrl ${command} agentrl.yaml --data DRAWS learns from them.`,
    );
  });
}

/** Settings that follow from the flags. */
export interface TrainingData {
  overrides: Override[];
  /** --set wins over these. */
  assumed: Override[];
  note?: string;
}

/**
 * The user's own questions as settings: four of five to train on, every fifth for the evaluations. Without --tier their budgets are those of
 * the recipe's tier paper, because the small tiers' budgets are made for the short texts of the tiny world.
 * @throws {ConfigError} USAGE for a registered dataset, whose splits must be named; PART_UNKNOWN for no file.
 */
export async function trainingData(
  flags: TrainingDataFlags & { tier?: string; plugin?: string[] },
  recipe: string,
): Promise<TrainingData> {
  const named = datasetOf(flags);
  if (named === undefined) {
    refuseStray(
      flags,
      ["index"],
      "--dataset, whose questions it answers, and --dataset is not given",
    );
    return { overrides: [], assumed: [] };
  }
  const { dataset = "", index, tier, plugin = [] } = flags;
  if (named.name !== "files")
    throw usage(
      `--dataset is "${dataset}", a registered dataset; expected a question file. Name its splits instead: --set 'dataset={name: ${named.name}, split: train}' --set 'evaluation.dataset={name: ${named.name}, split: dev}'.`,
    );
  const setting = (key: string, value: unknown, origin: string): Override => ({
    key,
    value,
    origin,
  });
  const own = { fields: undefined, ...named };
  const overrides = [
    setting("dataset", { ...own, part: "train" }, "--dataset"),
    setting("evaluation.dataset", { ...own, part: "held-out" }, "--dataset"),
  ];
  if (index !== undefined) {
    overrides.push(setting("retriever", await indexRetriever(index), "--index"));
    overrides.push(setting("evaluation.retriever", undefined, "--index"));
  }
  const held = `${dataset}: every fifth question is held out for the evaluations`;
  const isTiered =
    tier === undefined && tiersOf(await loadRecipe(recipe, plugin)).includes("paper");
  if (!isTiered) return { overrides, assumed: [], note: `${held}.` };
  const { settings } = await settingsOf({ recipe, tier: "paper", plugin });
  return {
    overrides,
    assumed: [
      setting("budgets", settings.budgets, "--dataset"),
      setting("environment", settings.environment, "--dataset"),
    ],
    note: `${held}; the budgets are those of tier paper, which fit real text (--tier or --set budgets=… chooses others).`,
  };
}
