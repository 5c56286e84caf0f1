import { cardNames } from "../../data/cards/card-names.ts";
import { placeOf } from "../../data/cards/card-dataset.ts";
import { readCard } from "../../data/cards/card.ts";
import { type DatasetSetting, datasetsWithin } from "../../data/dataset.ts";
import {
  differenceLines,
  type PaperFacts,
  paperFacts,
  questionsIn,
} from "../../run/checks/paper-tier.ts";
import { protocolOf } from "../../run/evaluation.ts";
import { setsOf } from "../../run/evaluation-sets.ts";
import type { RecipeFile } from "../../run/settings/recipe-schema.ts";
import { type Settings, settingsSchema } from "../../run/settings/settings-schema.ts";
import { loadSettings, resolveSettings } from "../../run/settings/settings.ts";
import { columnOf, datasetOfColumn, setColumns } from "./columns.ts";

/** How a recipe's tier `paper` measures one set of a paper's table. */
export interface PublishedSet {
  /** As results name it: `nq:test`. */
  dataset: string;
  /** Questions in the paper; null: not published. */
  questions: number | null;
  samples: number;
  /** Name of the retriever. */
  retriever: string;
  /** Whether the policy is asked through a chat template. */
  chat: boolean;
  /** The protocol, but for dataset, questions and retriever. */
  protocol: Readonly<Record<string, unknown>>;
}

/** The sets of a table, and how the recipe's tier `paper` measures them. */
export interface PublishedSets {
  /** The table's columns but its average; the tier's datasets where the average is all that the table has. */
  columns: string[];
  /** By column; a column that the tier does not measure is absent. */
  sets: ReadonlyMap<string, PublishedSet>;
  /** Differences between tier and paper that the recipe names and that concern measuring. */
  named: string[];
}

/** Settings that concern training alone. */
const TRAINING = /^(algorithm|dataset|sft|preference|reward|rewards|synth|sampling|models)\b/;

/** @param columns of the table. @throws {ConfigError} as `resolveRecipe`. */
export async function publishedSets(
  recipe: RecipeFile,
  columns: readonly string[],
): Promise<PublishedSets> {
  const own = setColumns(columns);
  if (recipe.tiers.paper === undefined) return { columns: own, sets: new Map(), named: [] };
  const resolved = resolveSettings(recipe, { tier: "paper" });
  const { settings } = await loadSettings(settingsSchema, resolved);
  const facts = await paperFacts(recipe);
  const measured = [settings, ...setsOf(settings).map((set) => set.settings)].flatMap((of) =>
    datasetsWithin(of.evaluation.dataset).map((dataset) => ({ of, dataset })),
  );
  const names = own.length > 0 ? own : [...new Set(measured.map(({ dataset }) => dataset.name))];
  const sets = new Map<string, PublishedSet>();
  for (const { of, dataset } of measured) {
    const column = columnOf(dataset.name, names);
    if (column === null || sets.has(column)) continue;
    sets.set(column, measuredBy(of, dataset, facts));
  }
  const lines = differenceLines({ recipe, tier: "paper" });
  return { columns: names, sets, named: lines.filter((line) => !TRAINING.test(line)) };
}

/** How settings measure a dataset. @param facts of the paper; null: it has none on file. */
export function measuredBy(
  settings: Settings,
  dataset: DatasetSetting,
  facts: PaperFacts | null,
): PublishedSet {
  const published = facts?.evaluation[dataset.name];
  const questions = published === undefined ? questionsIn(dataset) : published;
  return { dataset: resultName(dataset), questions, ...howMeasured(settings) };
}

/** The name that an evaluation on a dataset has in its results. */
function resultName({ name, ...options }: DatasetSetting): string {
  if (!cardNames("questions").includes(name)) return name;
  return `${name}:${placeOf(readCard(name), options).split}`;
}

function howMeasured(settings: Settings): Omit<PublishedSet, "dataset" | "questions"> {
  const { evaluation } = settings;
  const { name } = evaluation.retriever ?? settings.retriever;
  const unknown = { fingerprint: "" };
  // As results have it, which are JSON.
  const text = JSON.stringify(protocolOf(settings, unknown, unknown, undefined));
  return {
    samples: evaluation.samplesPerTask,
    retriever: name,
    chat: settings.policy.chat !== undefined,
    protocol: JSON.parse(text) as Record<string, unknown>,
  };
}

/** What --dataset measures for a column: the tier's dataset, else the published one of its name; null: none is known. */
export function datasetToMeasure(column: string, { sets }: PublishedSets): string | null {
  const planned = sets.get(column)?.dataset;
  return planned?.replace(/:[\w-]+$/, "") ?? datasetOfColumn(column);
}
