import { ConfigError } from "../../base/errors.ts";
import { suggest } from "../../base/nearest.ts";
import type { PaperTable, RecipeFile } from "../../run/settings/recipe-schema.ts";
import { letters, namesAlike } from "../claims/names-alike.ts";

/** Which of a paper's tables is meant. */
export interface TableChoice {
  /** Its id: `table-2`. */
  table?: string | undefined;
  model?: string | undefined;
}

/** A table of a paper, and the choices that name its other ones. */
export interface ChosenTable {
  table: PaperTable;
  others: string[];
}

/**
 * A table of the paper. Of several that are meant: of those with a column for the evaluations, the one whose model is named like the
 * measured policy, else the first.
 * @param measured.fits whether a table has a column for an evaluation.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no table; USAGE when none fits.
 */
export function chooseTable(
  recipe: RecipeFile,
  { table: id, model }: TableChoice,
  measured: { policy: string; fits: (table: PaperTable) => boolean },
): ChosenTable {
  const tables = recipe.paperTables;
  const [first] = tables;
  if (first === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.path}: has no paperTables, so there is no table to write a row into. Name a recipe with tables, e.g. --paper search-r1, or add paperTables (docs/claims.md).`,
    );
  }
  const ofId = named(tables, { of: "table", wanted: id, flag: "--table", recipe });
  const fitting = named(ofId, { of: "model", wanted: model, flag: "--model", recipe });
  const isOfPolicy = (own: PaperTable): boolean =>
    own.model !== undefined && namesAlike(measured.policy, own.model);
  const able = fitting.filter(measured.fits);
  const table = able.find(isOfPolicy) ?? able[0] ?? fitting[0] ?? first;
  const others = tables.filter((each) => each !== table).map(choiceText);
  return { table, others: [...new Set(others)] };
}

/** The options that choose a table. @example choiceText(table) // "--table table-2 --model Qwen2.5-3B" */
function choiceText({ id, model }: PaperTable): string {
  return `--table ${id}${model === undefined ? "" : ` --model ${model}`}`;
}

function named(
  tables: readonly PaperTable[],
  asked: { of: "table" | "model"; wanted: string | undefined; flag: string; recipe: RecipeFile },
): readonly PaperTable[] {
  const { of, wanted, flag, recipe } = asked;
  if (wanted === undefined) return tables;
  const nameOf = (table: PaperTable): string => (of === "table" ? table.id : (table.model ?? ""));
  const found = tables.filter((table) => letters(nameOf(table)) === letters(wanted));
  if (found.length > 0) return found;
  const known = [...new Set(tables.map(nameOf))].filter((name) => name !== "");
  const where = of === "model" ? ` Tables: ${tables.map(choiceText).join("; ")}.` : "";
  throw new ConfigError(
    "USAGE",
    `${flag} is "${wanted}"; ${recipe.path} has no such table of the paper. ${suggest(wanted, known)}${where}`,
  );
}
