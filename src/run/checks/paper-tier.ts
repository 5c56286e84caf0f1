import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { readText } from "../../base/files.ts";
import { valueAt } from "../../base/leaves.ts";
import { packageRoot } from "../../base/package-root.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { parseYaml } from "../../base/yaml.ts";
import { cardNames } from "../../data/cards/card-names.ts";
import { readCard } from "../../data/cards/card.ts";
import { placeOf } from "../../data/cards/card-dataset.ts";
import { type DatasetSetting, datasetsWithin } from "../../data/dataset.ts";
import { openStrategy } from "../../rollout/strategies/named-strategy.ts";
import { environments, MADE_UP_DATASETS } from "../../worlds/datasets.ts";
import type { RecipeFile } from "../settings/recipe-schema.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { type ResolvedSettings, withBelow } from "../settings/settings.ts";

/** A difference between a recipe's tier `paper` and the paper, which the recipe names. */
export type PaperDifference = RecipeFile["differs"][number];

/** null: not published. */
const counts = z.record(z.string(), z.int().min(1).nullable());

/** What a paper says of its main run, by the settings that say it here: `recipes/papers/<recipe>.yaml`. */
const factsSchema = z.strictObject({
  /** Where it is from: sections, tables, files of the authors' code, or a summary of these. */
  source: z.string(),
  /** What it was trained on: "8 × H100"; null: not published. */
  hardware: z.string().nullable(),
  /** Values by dotted key of the settings. */
  settings: z.record(z.string(), z.unknown()),
  /** Questions by dataset. */
  training: counts,
  evaluation: counts,
});

export type PaperFacts = z.output<typeof factsSchema>;

/** Settings of a learning run that decide its result, where it has them. */
const CONSTANTS = [
  ...["steps", "promptsPerStep", "groupSize", "minibatches", "klCoef"].map(
    (key) => `algorithm.${key}`,
  ),
  "algorithm.optimizer.learningRate",
  ...["epochs", "batch.size", "optimizer.learningRate"].map((key) => `sft.${key}`),
];

/** Strategies that put the question to the policy as `environment.prompt` says. */
const PROMPTED = ["agent", "direct", "given", "rag"];

/** Something that the tier `paper` leaves to a default or has otherwise than the paper, though the recipe does not say so. */
export interface PaperGap {
  key: string;
  /** Begins with the key. */
  message: string;
}

/** The differences that a recipe names, after those of the recipe that it extends where it is no other paper's. */
export function differencesOf({ below, paper, differs }: RecipeFile): PaperDifference[] {
  return below === null || paper !== undefined ? differs : [...differencesOf(below), ...differs];
}

/** @returns null: a recipe without facts, such as a user's own. @throws {ConfigError} RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY */
export async function paperFacts({ name }: RecipeFile): Promise<PaperFacts | null> {
  const path = join("recipes", "papers", `${name}.yaml`);
  if (!existsSync(join(packageRoot, path))) return null;
  const yaml = parseYaml(await readText(join(packageRoot, path)), path);
  const checked = checkOptions(factsSchema, yaml.value);
  if (checked.problem === null) return checked.value;
  const { problem } = checked;
  const where = `${path}:${yaml.lineOf(problem.path)}`;
  throw new ConfigError(problem.code, `${where}: ${problem.path.join(".")} ${problem.message}`);
}

/** What a recipe's tier `paper` does not have from the paper and does not name as a difference. */
export function paperGaps(
  { recipe, settings, origins }: ResolvedSettings<Settings>,
  facts: PaperFacts | null,
): PaperGap[] {
  const differs = differencesOf(recipe);
  const originOf = (key: string): string => {
    const own = [...origins].find(([known]) => known === key || known.startsWith(`${key}.`));
    return own?.[1] ?? "default";
  };
  const isDefault = (key: string): boolean => originOf(key) === "default";
  const files = withBelow(recipe).map(({ path }) => `${path}:`);
  /** What a flag or an arm of a claim sets is meant so. */
  const isGiven = (key: string): boolean =>
    [...origins].some(
      ([known, origin]) =>
        (known === key || known.startsWith(`${key}.`)) &&
        origin !== "default" &&
        !files.some((file) => origin.startsWith(file)),
    );
  const isMeant = (key: string): boolean => isNamed(differs, key) || isGiven(key);
  const gaps: PaperGap[] = [];
  const add = (key: string, problem: string): void => {
    if (!isMeant(key)) gaps.push({ key, message: `${key} ${problem}` });
  };
  const { strategy, evaluation } = settings;
  const sets = Object.entries(evaluation.sets ?? {});
  const datasets: [string, DatasetSetting | undefined][] = [
    ["dataset", settings.dataset],
    ["evaluation.dataset", evaluation.dataset],
    ...sets.map(([name, set]): [string, DatasetSetting | undefined] => {
      return [`evaluation.sets.${name}.dataset`, set.dataset];
    }),
  ];
  for (const [key, dataset] of datasets) {
    const madeUp = namesIn(dataset).find((name) => MADE_UP_DATASETS.includes(name));
    // Other data of a named evaluation may be meant; a made-up world is named at its own key.
    const isMeantSo = differs.some((each) => each.key === key) || isGiven(key);
    if (madeUp !== undefined && !isMeantSo)
      gaps.push({ key, message: `${key} is the made-up world ${madeUp}` });
  }
  const { name, ...ofEnvironment } = settings.environment;
  const isSearched = environments.get(name, "environment").needs(ofEnvironment).includes("retriever"); // prettier-ignore
  const searches = openStrategy(strategy, "strategy").searches && isSearched;
  if (searches && isDefault("retriever"))
    add("retriever", "is the default, bm25 over the dataset's own passages");
  if (PROMPTED.includes(typeof strategy === "string" ? strategy : strategy.name)) {
    if (isDefault("environment.prompt"))
      add("environment.prompt", "is the default: the question without an instruction");
  }
  if (isDefault("policy.from") && settings.policy.endpoint === undefined)
    add("policy.from", "is the default, the small policy of the package");
  for (const key of CONSTANTS) {
    if (valueAt(settings, key.split(".")) === undefined || !isDefault(key)) continue;
    if (facts === null || !(key in facts.settings)) add(key, "is the default");
  }
  const stated = facts === null ? [] : factGaps(settings, facts, differs);
  const wrong = stated.filter(({ isEqual, key }) => isEqual || !isMeant(key));
  return [...gaps, ...wrong.map(({ key, message }) => ({ key, message }))];
}

function isNamed(differs: readonly PaperDifference[], key: string): boolean {
  return differs.some((each) => key === each.key || key.startsWith(`${each.key}.`));
}

/** Facts that the tier has otherwise, and those that it has though the recipe names them as differences (`isEqual`). */
function factGaps(
  settings: Settings,
  facts: PaperFacts,
  differs: readonly PaperDifference[],
): (PaperGap & { isEqual: boolean })[] {
  const { evaluation } = settings;
  const measured = [
    evaluation.dataset,
    ...Object.values(evaluation.sets ?? {}).flatMap(({ dataset }) => dataset ?? []),
  ];
  const ofSettings = Object.entries(facts.settings).map(([key, value]) => {
    return { key, ours: valueAt(settings, key.split(".")), papers: value };
  });
  const ofData = [
    { key: "dataset", ours: questionsOf([settings.dataset]), papers: facts.training },
    { key: "evaluation", ours: questionsOf(measured), papers: facts.evaluation },
  ];
  const wrong = [...ofSettings, ...ofData]
    .filter(({ ours, papers }) => !sameValue(ours, papers))
    .map(({ key, ours, papers }) => {
      const message = `${key} is ${shown(ours)}, and ${shown(papers)} in the paper`;
      return { key, message, isEqual: false };
    });
  const same = ofSettings
    .filter(({ key, ours, papers }) => {
      return sameValue(ours, papers) && differs.some((each) => each.key === key);
    })
    .map(({ key }) => {
      return { key, message: `${key} is the paper's, and yet stands under differs`, isEqual: true };
    });
  return [...wrong, ...same];
}

function shown(value: unknown): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}

function sameValue(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, each]) => [key, sorted(each)]),
        )
      : value;
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** Numbers of questions by dataset; null where only the dataset itself knows. */
function questionsOf(settings: readonly DatasetSetting[]): Record<string, number | null> {
  return Object.fromEntries(
    settings
      .flatMap((setting) => datasetsWithin(setting))
      .map((part) => [part.name, questionsIn(part)]),
  );
}

/** Number of questions of a dataset's setting; null where only the dataset itself knows. */
export function questionsIn({ name, ...options }: DatasetSetting): number | null {
  const { limit: most, split, source } = cardOptions.parse(options);
  if (!cardNames("questions").includes(name)) return most ?? null;
  return Math.min(placeOf(readCard(name), { split, source }).records, most ?? Infinity);
}

const cardOptions = z.object({
  limit: z.number().optional(),
  split: z.string().optional(),
  source: z.string().optional(),
});

function namesIn(setting: DatasetSetting | undefined): string[] {
  return setting === undefined
    ? []
    : [setting.name, ...datasetsWithin(setting).map(({ name }) => name)];
}

/**
 * Refuses a tier `paper` that is not the paper; other tiers pass.
 * @throws {ConfigError} PAPER_TIER_UNLIKE
 */
export async function requirePaper(resolved: ResolvedSettings<Settings>): Promise<void> {
  const { recipe, tier } = resolved;
  if (tier !== "paper") return;
  const gaps = paperGaps(resolved, await paperFacts(recipe));
  if (gaps.length === 0) return;
  const lines = gaps.map(({ message }) => `  ${message}`);
  throw new ConfigError(
    "PAPER_TIER_UNLIKE",
    `${recipe.path}: the tier paper is not the paper, and does not say so:\n${lines.join("\n")}\nSet what the paper has, or name each under differs: { key: KEY, why: … }. docs/training.md`,
  );
}

/** The named differences as lines for people; none for other tiers. */
export function differenceLines({
  recipe,
  tier,
}: Pick<ResolvedSettings, "recipe" | "tier">): string[] {
  if (tier !== "paper") return [];
  return differencesOf(recipe).map(({ key, paper, why }) =>
    paper === undefined ? `${key}: ${why}` : `${key} (paper: ${paper}): ${why}`,
  );
}
