import { fixed, formatP, plural, signed } from "../base/format.ts";
import { intervalColumn, renderText } from "../base/table.ts";
import type { PaperCell } from "../recipe/claims.ts";
import type { ClaimResult, Reproduction } from "../recipe/reproduce.ts";

const [value, difference] = [fixed(3), signed(3)];

/** A reproduction for people: each claim with its verdict, our numbers, the paper's, and the comparisons. */
export function reproductionText({ recipe, tier, seeds, claims }: Reproduction): string {
  const runs = seeds.length === 1 ? "1 seed" : `${seeds.length} seeds (${seeds.join(", ")})`;
  const counts = ["supported", "not supported", "inconclusive"].flatMap((verdict) => {
    const count = claims.filter((claim) => claim.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${verdict}`];
  });
  const summary = `${plural(claims.length, "claim")}: ${counts.join(", ")}`;
  return [`${recipe}, tier ${tier}, ${runs}`, ...claims.map(claimText), summary].join("\n\n");
}

function claimText(claim: ClaimResult): string {
  const { id, statement, metric, source, verdict, arms, comparisons } = claim;
  const measured = renderText(
    {
      columns: [
        "arm",
        { label: "ours", format: value },
        intervalColumn("95 % interval", value),
        { label: "paper", format: value },
        "",
      ],
      rows: arms.map(({ name, mean, ci95, paper }) => [
        ...[name, mean, ci95, paper?.value ?? null],
        sourceOf(paper),
      ]),
    },
    2,
  );
  const compared = renderText(
    {
      columns: [
        "claim",
        { label: "difference", format: difference },
        intervalColumn("95 % interval", difference),
        { label: "p", format: formatP },
        "",
      ],
      rows: comparisons.map(({ left, relation, right, difference: by, ci95, p, method }) => [
        ...[`${left} ${relation} ${right}`, by, ci95, p, METHODS[method]],
      ]),
    },
    2,
  );
  return [
    `${id}: ${verdict.toUpperCase()}`,
    `  ${statement} (${source}; ${metric})`,
    ...["", measured, "", compared],
    ...(arms.every(({ values }) => values.length === 1)
      ? ["", "  One seed has no interval, so the claim cannot be tested: use --seeds 3 or more."]
      : []),
  ].join("\n");
}

function sourceOf(paper: PaperCell | null): string {
  if (paper === null) return "";
  const { table: id, system, dataset, model } = paper;
  return [id, system, dataset, ...(model === null ? [] : [model])].join(", ");
}

const METHODS = {
  "paired-t": "paired by seed",
  "welch-t": "Welch",
  "one-sample-t": "against a number",
} as const;
