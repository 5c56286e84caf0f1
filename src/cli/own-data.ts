import { existsSync } from "node:fs";
import { budgetOf, largestBudgets } from "../env/budget.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { Override } from "../run/settings/settings.ts";
import { settingsOf } from "./recipe-options.ts";

/** The default recipe of the environment. */
export const DEFAULT_RECIPE = "search-r1";

/** What decides the budgets of a command that runs a policy on data. */
export interface DataChoice {
  recipe?: string | undefined;
  tier?: string | undefined;
  /** The user's questions or corpus; undefined: the recipe's own. */
  data: string | undefined;
  /** A local model that answers; undefined: a server, or no model. */
  model: string | undefined;
}

/** A recipe and tier, and why the user did not get the default ones. */
export interface DataTier {
  recipe: string;
  tier?: string;
  note?: string;
  /** Laid under what the user sets. */
  assumed: Override[];
}

/** What the tier paper has of data is not for data of one's own: their own passages are searched, and no dataset is downloaded. */
function withoutPapersData({ dataset, evaluation }: Settings): Override[] {
  const origin = "--dataset";
  return [
    { key: "retriever", value: "bm25", origin },
    { key: "dataset", value: dataset, origin },
    { key: "evaluation.dataset", value: evaluation.dataset, origin },
  ];
}

/**
 * The recipe and tier for data. The small tiers are made for the tiny world, whose texts are short: where the user names neither recipe nor
 * tier, data of their own get the tier paper, unless its context does not fit a local model.
 */
export async function tierForData({ recipe, tier, data, model }: DataChoice): Promise<DataTier> {
  const given = { recipe: recipe ?? DEFAULT_RECIPE, tier, assumed: [] };
  if (recipe !== undefined || tier !== undefined || data === undefined) return given;
  const small = await settingsOf(given);
  if (data.split(":")[0] === small.settings.dataset.name) return given;
  const paper = await settingsOf({ ...given, tier: "paper" });
  const limits = largestBudgets(paper.settings.budgets);
  const tokens = (scope: "turn" | "observation" | "context"): number =>
    budgetOf(limits, scope)?.limit ?? Infinity;
  const positions = model === undefined ? Infinity : await positionsOf(model);
  const own = `${data} is not the recipe's tiny world`;
  if (positions <= tokens("context"))
    return {
      ...given,
      note: `${own}, but ${model ?? ""} has only ${positions} positions: the budgets stay those of tier ${small.tier}, and longer texts are cut.${await knowsLittle(model)}`,
    };
  return {
    ...given,
    tier: "paper",
    assumed: withoutPapersData(small.settings),
    note:
      `${own}: the budgets are those of tier paper (${tokens("turn")} tokens a message, ${tokens("observation")} an observation, ` +
      `${tokens("context")} in all). --tier or --set budgets=… chooses others.`,
  };
}

/** What to know of a policy of the package on questions of the user's; "" for any other. */
async function knowsLittle(model: string | undefined): Promise<string> {
  const { policyNames } = await import("../run/bases.ts");
  return model !== undefined && policyNames().includes(model)
    ? ` The policy "${model}" knows only the words of the package's small worlds: on other questions its scores mean nothing. --policy names a real model.`
    : "";
}

/** Positions of a local model; infinite where its folder is not here yet, or says nothing. */
async function positionsOf(model: string): Promise<number> {
  const { folderOfName } = await import("../run/bases.ts");
  const named = await folderOfName(model);
  if (!existsSync(named)) return Infinity;
  const { baseFolder, policyFolder } = await import("../run/assemble.ts");
  const { readDecoderConfig } = await import("../models/checkpoint.ts");
  const folder = await policyFolder(named);
  const { maxPositions } = await readDecoderConfig((await baseFolder(folder)) ?? folder);
  return maxPositions;
}
