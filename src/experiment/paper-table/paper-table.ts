import { ConfigError } from "../../base/errors.ts";
import { suggest } from "../../base/nearest.ts";
import { policyLabel } from "../../evaluate/policy-label.ts";
import { type Interval, meanOfMeans } from "../../evaluate/statistics.ts";
import type { PaperTable, RecipeFile } from "../../run/settings/recipe-schema.ts";
import { letters } from "../claims/names-alike.ts";
import { chooseTable, type TableChoice } from "./choose-table.ts";
import { columnOf, isAverage } from "./columns.ts";
import type { MeasuredSet } from "./measured-set.ts";
import { datasetToMeasure, publishedSets, type PublishedSets } from "./published-sets.ts";
import { compareSetups, type SetupComparison } from "./setup-differences.ts";

/** Which table, and what our row in it is. */
export interface RowChoice extends TableChoice {
  /** Name of our row. */
  name: string;
  /** Row of the paper that ours is compared with; default: that of the recipe's own method, where its claims name it. */
  row?: string | undefined;
  /** Default: the table's. */
  metric?: string | undefined;
}

/** Our value beside a published one. */
interface Value {
  value: number;
  /** 95 % interval over questions; null where there is none. */
  ci95: Interval | null;
  /** Of the row that ours is compared with; null where the paper has none. */
  published: number | null;
  /** Ours minus published. */
  gap: number | null;
  /** Whether the published number is inside our interval. */
  inside: boolean | null;
}

/** Our value in one column. */
export interface OurCell extends Value {
  column: string;
  dataset: string;
  folder: string;
  /** Measured questions, and how many the paper has; null: not published. */
  n: number;
  publishedN: number | null;
  fingerprint: string;
}

/** A column without a value of ours. */
export interface MissingCell {
  column: string;
  /** What `--dataset` measures for it; null: no dataset of agentrl is named like the column. */
  dataset: string | null;
}

/** A paper's table with our row in it. Values are shares, also where the paper's table is in percent. */
export interface PaperTableRow extends SetupComparison {
  recipe: string;
  paper: RecipeFile["paper"];
  table: Pick<PaperTable, "id" | "title" | "model" | "metric">;
  /** Columns of the table, with those of our sets where it has the average alone. */
  columns: string[];
  /** The paper's rows, a value per column. */
  rows: { name: string; values: (number | null)[] }[];
  name: string;
  policy: string;
  metric: string;
  /** The paper's row that ours is compared with. */
  row: string | null;
  cells: OurCell[];
  missing: MissingCell[];
  /** Unweighted mean of the sets; null where the table has none, or a set is missing. */
  average: Value | null;
  hasAverage: boolean;
  /** Differences between the recipe's tier `paper` and the paper, as far as they concern measuring. */
  named: string[];
  /** Evaluations that fit no column. */
  leftOut: { folder: string; dataset: string }[];
  /** Choices of the paper's other tables. */
  others: string[];
  readsGold: boolean;
}

/**
 * Puts evaluations of one policy into a table of a recipe's paper.
 *
 * @param measured evaluations; those whose `isNamed` is set must fit a column.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no table; USAGE when a choice names none, or an evaluation fits no column;
 * RESULTS_TWICE when two are of one column; COMPARE_METRIC when the metric was not measured.
 */
export async function paperTableRow(
  recipe: RecipeFile,
  measured: readonly (MeasuredSet & { isNamed: boolean })[],
  choice: RowChoice,
): Promise<PaperTableRow> {
  const [first] = measured;
  const policy = first === undefined ? "" : policyLabel(first.policy);
  const { table, others } = chooseTable(recipe, choice, {
    policy,
    fits: ({ columns }) =>
      columns.every(isAverage) ||
      measured.some(({ column, dataset }) => columnOf(column ?? dataset, columns) !== null),
  });
  const sets = await publishedSets(recipe, table.columns);
  const shown = table.columns.every(isAverage)
    ? [...sets.columns, ...table.columns]
    : table.columns;
  const { cells: placed, leftOut } = placeCells(measured, sets.columns, table.id);
  const metric = choice.metric ?? table.metric;
  const row = rowOf(recipe, table, choice.row);
  const rows = Object.entries(table.rows).map(([name, values]) => ({
    name,
    values: shown.map((column) => shareIn(table, values, column)),
  }));
  const publishedIn = (column: string): number | null =>
    row === null ? null : shareIn(table, table.rows[row] ?? [], column);
  const cells = [...placed].map(([column, set]): OurCell => ({
    column,
    dataset: set.dataset,
    folder: set.folder,
    n: set.n,
    publishedN: sets.sets.get(column)?.questions ?? null,
    fingerprint: set.fingerprint,
    ...beside(measurement(set, metric, table), publishedIn(column)),
  }));
  const missing = missingCells(sets, placed);
  const averageColumn = table.columns.find(isAverage);
  const whole = missing.length === 0 && averageColumn !== undefined;
  const { model, metric: of } = table;
  return {
    recipe: recipe.name,
    paper: recipe.paper,
    table: { id: table.id, title: table.title, model, metric: of },
    columns: shown,
    rows,
    name: choice.name,
    policy,
    metric,
    row,
    cells,
    missing,
    average: whole ? beside(meanOfMeans(cells), publishedIn(averageColumn)) : null,
    hasAverage: averageColumn !== undefined,
    ...compareSetups(placed, sets, { model, metric, of }),
    named: sets.named,
    leftOut,
    others,
    readsGold: [...placed.values()].some(({ readsGold }) => readsGold),
  };
}

/** Each evaluation in its column, in the order of the table. */
function placeCells(
  measured: readonly (MeasuredSet & { isNamed: boolean })[],
  columns: readonly string[],
  table: string,
): { cells: Map<string, MeasuredSet>; leftOut: PaperTableRow["leftOut"] } {
  const found = new Map<string, MeasuredSet>();
  const leftOut: PaperTableRow["leftOut"] = [];
  for (const set of measured) {
    const column = set.column === null ? columnOf(set.dataset, columns) : namedColumn(set, columns);
    if (column === null) {
      if (set.isNamed) throw unplaced(set, columns, table);
      leftOut.push({ folder: set.folder, dataset: set.dataset });
      continue;
    }
    const other = found.get(column);
    if (other !== undefined) throw twice(column, other, set);
    found.set(column, set);
  }
  const [stray] = leftOut;
  if (found.size === 0 && stray !== undefined) throw unplaced(stray, columns, table);
  const inOrder = columns.flatMap((column) => {
    const set = found.get(column);
    return set === undefined ? [] : [[column, set] as const];
  });
  return { cells: new Map(inOrder), leftOut };
}

function namedColumn({ column, folder }: MeasuredSet, columns: readonly string[]): string {
  const wanted = column ?? "";
  const found = columns.find((each) => letters(each) === letters(wanted));
  if (found !== undefined) return found;
  throw new ConfigError(
    "USAGE",
    `${wanted}=${folder}: the table has no column "${wanted}". ${suggest(wanted, columns)}`,
  );
}

function unplaced(
  { folder, dataset }: { folder: string; dataset: string },
  columns: readonly string[],
  table: string,
): ConfigError {
  const [column = ""] = columns;
  return new ConfigError(
    "USAGE",
    `${folder}: its dataset is "${dataset}", and no column of ${table} is named like it. Columns: ${columns.join(", ")}. Name the column before the folder, e.g. "${column}=${folder}".`,
  );
}

function twice(column: string, one: MeasuredSet, other: MeasuredSet): ConfigError {
  const same = policyLabel(one.policy) === policyLabel(other.policy);
  const cure = same
    ? "Name the one that counts."
    : `They are of two policies (${policyLabel(one.policy)}; ${policyLabel(other.policy)}), and a row is of one: name the folder of one policy.`;
  return new ConfigError(
    "RESULTS_TWICE",
    `${one.folder} (${one.dataset}) and ${other.folder} (${other.dataset}) are both of the column ${column}, which takes one evaluation. ${cure}`,
  );
}

function missingCells(
  sets: PublishedSets,
  placed: ReadonlyMap<string, MeasuredSet>,
): MissingCell[] {
  return sets.columns
    .filter((column) => !placed.has(column))
    .map((column) => ({ column, dataset: datasetToMeasure(column, sets) }));
}

function measurement(
  { folder, metrics, intervals }: MeasuredSet,
  metric: string,
  table: PaperTable,
): { value: number; ci95: Interval | null } {
  const value = metrics[metric] ?? null;
  if (value !== null) return { value, ci95: intervals[metric] ?? null };
  const known = Object.keys(metrics).filter((name) => (metrics[name] ?? null) !== null);
  const whose = metric === table.metric ? `the metric of ${table.id}, ` : "";
  throw new ConfigError(
    "COMPARE_METRIC",
    `${folder}: "${metric}", ${whose}is not measured in this evaluation. ${suggest(metric, known)} Choose by --metric; the table then says that its metric is another one.`,
  );
}

function beside(
  { value, ci95 }: { value: number; ci95: Interval | null },
  published: number | null,
): Value {
  const gap = published === null ? null : value - published;
  const inside =
    published === null || ci95 === null ? null : ci95[0] <= published && published <= ci95[1];
  return { value, ci95, published, gap, inside };
}

/** A value of the table as a share; null where it has none. */
function shareIn(
  { columns, unit }: PaperTable,
  values: readonly (number | null)[],
  column: string,
): number | null {
  const value = values[columns.indexOf(column)] ?? null;
  return value === null || unit === "share" ? value : value / 100;
}

/** The paper's row that ours is compared with: the named one, or that of the recipe's own method in this table. */
function rowOf(recipe: RecipeFile, table: PaperTable, wanted: string | undefined): string | null {
  const known = Object.keys(table.rows);
  if (wanted === undefined) {
    // The first arm of a claim is the recipe's own method, or a variant of it.
    const cells = recipe.claims.tests.flatMap(({ arms }) => arms[0]?.paperCell ?? []);
    const own = cells.find(
      (cell) => cell.table === table.id && (cell.model ?? table.model) === table.model,
    );
    return own?.row ?? null;
  }
  const found = known.find((name) => letters(name) === letters(wanted));
  if (found !== undefined) return found;
  throw new ConfigError(
    "USAGE",
    `--row is "${wanted}"; ${table.id} of ${recipe.path} has no such row. ${suggest(wanted, known)}`,
  );
}
