import { ConfigError } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import { isShare } from "../evaluate/metrics/metric-columns.ts";
import type { Comparison, PaperCell } from "../evaluate/claims/claim-results.ts";
import {
  type CellAddress,
  type Claim,
  type PaperTable,
  type RecipeFile,
  TIERS,
} from "./settings/recipe-schema.ts";

/** Every value of the paper's tables, one by one, in the recipe's order. */
export function paperCells(tables: readonly PaperTable[]): PaperCell[] {
  return tables.flatMap((table) =>
    Object.entries(table.rows).flatMap(([system, values]) =>
      values.flatMap((value, column) => {
        if (value === null) return [];
        const { id, metric, unit, model = null, split = null } = table;
        const dataset = table.columns[column] ?? "";
        const inUnit = unit === "percent" ? value / 100 : value;
        return [{ table: id, system, dataset, metric, model, split, value: inUnit }];
      }),
    ),
  );
}

/** The cells that an address names; exactly one where the address is good. */
export function findCells(tables: readonly PaperTable[], address: CellAddress): PaperCell[] {
  return paperCells(tables).filter(
    (cell) =>
      cell.table === address.table &&
      cell.system === address.row &&
      cell.dataset === address.column &&
      (address.model === undefined || cell.model === address.model),
  );
}

/**
 * The comparisons that a claim's relation consists of.
 * @example comparisons({ relation: "a > b >= 0.2", … }) // a > b and b >= 0.2
 */
export function comparisons(claim: Pick<Claim, "relation">): Comparison[] {
  const pieces = claim.relation.split(/\s*(>=|>)\s*/);
  const operands = pieces.filter((_, i) => i % 2 === 0).map(operand);
  return operands.slice(1).map((right, i) => ({
    left: operands[i] ?? "",
    relation: pieces[2 * i + 1] === ">=" ? ">=" : ">",
    right,
  }));
}

/**
 * @throws {ConfigError} RECIPE_BAD_VALUE when a table is ragged, a relation names no arm of its claim, an arm's paper
 *   cell is not there exactly once, or two claims, or two arms of one, share a name.
 */
export function checkClaims(recipe: RecipeFile): void {
  const wrong = (keys: string[], sentence: string): ConfigError =>
    new ConfigError("RECIPE_BAD_VALUE", `${recipe.place(keys)}: ${keys.join(".")} ${sentence}`);
  recipe.paperTables.forEach((table, t) => {
    for (const [system, values] of Object.entries(table.rows)) {
      if (values.length === table.columns.length) continue;
      throw wrong(
        ["paperTables", String(t), "rows", system],
        `has ${values.length} values for ${table.columns.length} columns; write null where the paper has none.`,
      );
    }
  });
  for (const tier of TIERS) {
    if (recipe.claims.base[tier] === undefined || recipe.tiers[tier] !== undefined) continue;
    const known = TIERS.filter((each) => recipe.tiers[each] !== undefined);
    throw wrong(
      ["claims", "base", tier],
      `is of a tier that the recipe does not have. ${suggest(tier, known)}`,
    );
  }
  const claimIds = recipe.claims.tests.map(({ id }) => id);
  recipe.claims.tests.forEach((claim, c) => {
    const at = ["claims", "tests", String(c)];
    if (claimIds.indexOf(claim.id) < c)
      throw wrong([...at, "id"], `is "${claim.id}", as an earlier claim's.`);
    claim.arms.forEach((arm, a) => {
      if (claim.arms.findIndex(({ name }) => name === arm.name) < a) {
        throw wrong([...at, "arms", String(a), "name"], `is "${arm.name}", as an earlier arm's.`);
      }
      if (arm.paperCell === undefined) return;
      const cells = findCells(recipe.paperTables, arm.paperCell);
      const [value = 0] = cells.map((cell) => cell.value);
      if (value > 1 && isShare(lastKey(claim.metric))) {
        throw wrong(
          [...at, "arms", String(a), "paperCell"],
          `is ${value}, and ${claim.metric} is a share from 0 to 1. Add unit: percent to the table if the paper gives percent.`,
        );
      }
      const found = cells.length;
      if (found === 1) return;
      throw wrong(
        [...at, "arms", String(a), "paperCell"],
        found === 0
          ? "names no cell of paperTables; table, row and column must be spelt as there."
          : `fits ${found} cells of paperTables; add the model.`,
      );
    });
    checkRelation(claim, (sentence) => wrong([...at, "relation"], sentence));
  });
}

function checkRelation(claim: Claim, wrong: (sentence: string) => ConfigError): void {
  const arms = claim.arms.map(({ name }) => name);
  const parts = comparisons(claim);
  if (parts.length === 0) {
    throw wrong(
      `is "${claim.relation}": expected arms or numbers joined by > or >=, e.g. "a > b".`,
    );
  }
  for (const name of parts.flatMap(({ left, right }) => [left, right])) {
    if (typeof name === "string" && !arms.includes(name)) {
      throw wrong(`names "${name}"; no such arm in this claim. ${suggest(name, arms)}`);
    }
  }
}

/** @example lastKey("eval.after.em") // "em" */
export function lastKey(path: string): string {
  return path.split(".").at(-1) ?? path;
}

function operand(text: string): string | number {
  return /^-?(\d+\.?\d*|\.\d+)$/.test(text.trim()) ? Number(text) : text.trim();
}
