import { ConfigError } from "../base/errors.ts";
import { leavesOf } from "../base/leaves.ts";
import { suggest } from "../base/nearest.ts";
import { type PaperCell, paperCells } from "../run/claims.ts";
import type { RecipeFile } from "../run/settings/recipe-schema.ts";
import { resolveSettings } from "../run/settings/settings.ts";
import { letters, namesAlike } from "./claims/names-alike.ts";

/** Which of a paper's numbers to look at. */
export interface CellChoice {
  metrics: readonly string[];
  /** Column: a data set as the paper spells it. */
  column?: string | undefined;
  /** What was measured on, by its name or file: chooses the column where none is named. */
  dataset?: string | undefined;
  /** Row: a system; all when absent. */
  row?: string | undefined;
}

/**
 * The numbers of a paper's tables that a run can be compared with.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no table of the metrics; USAGE when no column or row is meant.
 */
export function publishedCells(recipe: RecipeFile, choice: CellChoice): PaperCell[] {
  const cells = paperCells(recipe.paperTables).filter(({ metric }) =>
    choice.metrics.includes(metric),
  );
  if (cells.length === 0) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.path}: has no paperTables of ${choice.metrics.join(" or ")}. Name another recipe, or the number itself by --published.`,
    );
  }
  const columns = unique(cells.map(({ dataset }) => dataset));
  const column = choice.column ?? columns.find((name) => namesAlike(choice.dataset ?? "", name));
  if (column === undefined) {
    throw new ConfigError(
      "USAGE",
      `--column is missing, and ${choice.dataset ?? "the run"} is named like none of the paper's columns. Known: ${columns.join(", ")}.`,
    );
  }
  const inColumn = named(cells, { key: "dataset", flag: "--column", wanted: column });
  if (choice.row === undefined) return inColumn;
  return named(inColumn, { key: "system", flag: "--row", wanted: choice.row });
}

/** What a recipe says of the paper's own protocol, as far as a table could be compared by it. */
export function publishedSetup(recipe: RecipeFile): Record<string, unknown> {
  const tier = recipe.tiers.paper === undefined ? null : ("paper" as const);
  if (tier === null) return {};
  const { settings } = resolveSettings(recipe, { tier });
  const shown = [...leavesOf((settings as Record<string, unknown>)["environment"])].filter(
    ([keys]) => keys.at(-1) === "topK",
  );
  return Object.fromEntries(shown.map(([keys, value]) => [keys.join("."), value]));
}

function named(
  cells: readonly PaperCell[],
  { key, flag, wanted }: { key: "dataset" | "system"; flag: string; wanted: string },
): PaperCell[] {
  const found = cells.filter((cell) => letters(cell[key]) === letters(wanted));
  if (found.length > 0) return found;
  const known = unique(cells.map((cell) => cell[key]));
  throw new ConfigError(
    "USAGE",
    `${flag} is "${wanted}"; the paper's tables have no such one. ${suggest(wanted, known)}`,
  );
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
