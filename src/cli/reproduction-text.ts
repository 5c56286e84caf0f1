import type { Interval } from "../evaluate/statistics.ts";
import type { PaperCell } from "../recipe/claims.ts";
import type { ArmResult, ClaimResult, Reproduction } from "../recipe/reproduce.ts";
import { table } from "./table.ts";

/** A reproduction for people: each claim with its verdict, ours beside the paper's, and what was compared. */
export function reproductionText({ recipe, tier, seeds, claims }: Reproduction): string {
  const runs = seeds.length === 1 ? "1 seed" : `${seeds.length} seeds (${seeds.join(", ")})`;
  const counts = ["supported", "not supported", "inconclusive"].flatMap((verdict) => {
    const count = claims.filter((claim) => claim.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${verdict}`];
  });
  const summary = `${claims.length} ${claims.length === 1 ? "claim" : "claims"}: ${counts.join(", ")}`;
  return [`${recipe}, tier ${tier}, ${runs}`, ...claims.map(claimText), summary].join("\n\n");
}

function claimText(claim: ClaimResult): string {
  const { id, statement, metric, source, verdict, arms, comparisons } = claim;
  const head = ["arm", "ours", "95 % interval", "paper", ""];
  const compared = comparisons.map(({ left, relation, right, difference, ci95, p, method }) => {
    const values = [signed(difference), intervalText(ci95, signed), pText(p), METHODS[method]];
    return [`${left} ${relation} ${right}`, ...values];
  });
  return [
    `${id}: ${verdict.toUpperCase()}`,
    indented(`${statement} (${source}; ${metric})`),
    "",
    table(arms.map(armRow), { head, align: ["left", "right", "left", "right"], indent: 2 }),
    "",
    table(compared, {
      head: ["claim", "difference", "95 % interval", "p", ""],
      align: ["left", "right", "left", "left"],
      indent: 2,
    }),
    ...(arms.every(({ values }) => values.length === 1)
      ? ["", indented("One seed gives no interval, so nothing can be said: --seeds 3 or more.")]
      : []),
  ].join("\n");
}

function armRow({ name, mean, ci95, paper }: ArmResult): string[] {
  const ours = [mean.toFixed(3), intervalText(ci95, (value) => value.toFixed(3))];
  return [name, ...ours, paper === null ? "–" : paper.value.toFixed(3), sourceOf(paper)];
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

function intervalText(interval: Interval | null, write: (value: number) => string): string {
  return interval === null ? "–" : `${write(interval[0])} … ${write(interval[1])}`;
}

function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

function pText(p: number | null): string {
  if (p === null) return "–";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

function indented(text: string): string {
  return `  ${text}`;
}
