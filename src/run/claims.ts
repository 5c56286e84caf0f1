import { ConfigError } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import { parseCurveMetric } from "./claims/curve-metric.ts";
import { type RelationPart, parseRelation } from "./claims/relation.ts";
import {
  type CellAddress,
  type Claim,
  type PaperTable,
  type RecipeFile,
  type Tier,
  TIERS,
} from "./settings/recipe-schema.ts";

/** One number that the paper reports. */
export interface PaperCell {
  table: string;
  /** The row: a system or a variant of it. */
  system: string;
  /** The column: a data set or an average. */
  dataset: string;
  metric: string;
  model: string | null;
  split: string | null;
  /** A share, also where the paper's table is in percent. */
  value: number;
}

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

/** Name of the control's runs among those of claims. */
export const CALIBRATION = "calibration";

/**
 * Everything that a reproduction runs: the tests and, where the recipe has a calibration, its control. The control is an arm without a
 * relation: it is measured before and after training, and never tested.
 */
export function experiments({ claims }: Pick<RecipeFile, "claims">): Claim[] {
  const { tests, calibration } = claims;
  if (calibration === undefined) return tests;
  const { metric, set, paperSet } = calibration;
  const control: Claim = {
    id: CALIBRATION,
    statement: "",
    role: "claim",
    source: "",
    metric: `eval.after.${metric}`,
    relation: `control > eval.before.${metric}(control)`,
    arms: [{ name: "control", set, paperSet, replicate: 0 }],
  };
  return [...tests, control];
}

/** The recipe with the metrics that its claims have at a tier. */
export function claimsAt(recipe: RecipeFile, tier: Tier): RecipeFile {
  if (tier !== "paper") return recipe;
  const tests = recipe.claims.tests.map((claim) => ({
    ...claim,
    metric: claim.paperMetric ?? claim.metric,
  }));
  return { ...recipe, claims: { ...recipe.claims, tests } };
}

/** The comparisons that a claim's relation consists of; the relation was checked when the recipe was read. */
export function comparisons({ relation }: Pick<Claim, "relation">): RelationPart[] {
  return parseRelation(relation, (sentence) => new Error(`relation ${sentence}`));
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
    if (claim.id === CALIBRATION)
      throw wrong([...at, "id"], `is "${CALIBRATION}", which is the name of the control's runs.`);
    if (claimIds.indexOf(claim.id) < c)
      throw wrong([...at, "id"], `is "${claim.id}", as an earlier claim's.`);
    parseCurveMetric(claim.metric, (sentence) => wrong([...at, "metric"], `is "${claim.metric}", which ${sentence}`)); // prettier-ignore
    claim.arms.forEach((arm, a) => {
      if (claim.arms.findIndex(({ name }) => name === arm.name) < a) {
        throw wrong([...at, "arms", String(a), "name"], `is "${arm.name}", as an earlier arm's.`);
      }
      if (arm.paperCell === undefined) return;
      const cells = findCells(recipe.paperTables, arm.paperCell);
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

/** @throws {ConfigError} RECIPE_BAD_VALUE when a cell above 1 stands beside a metric that is a share. */
export async function checkUnits(recipe: RecipeFile): Promise<void> {
  const { claims, paperTables } = recipe;
  for (const [c, { arms, metric }] of claims.tests.entries()) {
    for (const [a, { paperCell }] of arms.entries()) {
      const [cell] = paperCell === undefined ? [] : findCells(paperTables, paperCell);
      if (cell === undefined || cell.value <= 1) continue;
      const { isShareMetric } = await import("./claims/claim-metric.ts");
      if (!isShareMetric(metric)) continue;
      const keys = ["claims", "tests", String(c), "arms", String(a), "paperCell"];
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `${recipe.place(keys)}: ${keys.join(".")} is ${cell.value}, and ${metric} is a share from 0 to 1. Add unit: percent to the table if the paper gives percent.`,
      );
    }
  }
}

function checkRelation(claim: Claim, wrong: (sentence: string) => ConfigError): void {
  const arms = claim.arms.map(({ name }) => name);
  const parts = parseRelation(claim.relation, wrong);
  for (const { left, relation, right } of parts) {
    for (const { metric } of [left, right]) {
      if (metric === null) continue;
      parseCurveMetric(metric, (sentence) => wrong(`names "${metric}", which ${sentence}`));
    }
    for (const { arm } of [left, right]) {
      if (arm !== null && !arms.includes(arm))
        throw wrong(`names "${arm}"; no such arm in this claim. ${suggest(arm, arms)}`);
    }
    if (left.arm === null && right.arm === null)
      throw wrong(`compares the numbers ${left.text} and ${right.text}; name an arm.`);
    if (left.arm === right.arm && left.metric === right.metric)
      throw wrong(`compares the arm "${left.arm}" with itself.`);
    if ((relation === "=") !== (claim.role === "equal-arms")) {
      throw wrong(
        claim.role === "equal-arms"
          ? `has ${relation}; equal arms are compared by =, e.g. "a = b".`
          : `has =, which only tests of role equal-arms have. Write >= with a margin: "${left.text} >= ${right.text} - 0.02".`,
      );
    }
    const isBare = [left, right].every((side) => side.arm !== null && side.factor === 1);
    if (/.=/.test(relation) && isBare && left.plus === right.plus) {
      const [sign, strict] = relation === ">=" ? ["-", ">"] : ["+", "<"];
      throw wrong(
        `has ${relation} without a margin, which no number of runs can show where both are equal. Say how much worse still counts, "${left.text} ${relation} ${right.text} ${sign} 0.02", or claim ${strict}.`,
      );
    }
  }
}
