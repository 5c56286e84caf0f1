import type { PaperCell } from "../run/claims.ts";
import { fixed, formatCount, formatP, signed } from "../base/format.ts";
import { type Column, intervalColumn, TABLE_WRITERS } from "../base/table.ts";
import type {
  ClaimResult,
  ComparisonResult,
  Reproduction,
} from "../experiment/claims/claim-results.ts";
import { formatDetectable } from "../experiment/claims/power.ts";
import {
  baseText,
  calibrationText,
  methodNote,
  remarksOn,
  settingValue,
  tallyText,
  verdictLine,
} from "../experiment/claims/verdict-text.ts";

const [value, difference] = [fixed(3), signed(3)];

/** Format of a reproduction: for a terminal, or as Markdown. */
export type ReproductionFormat = keyof typeof TABLE_WRITERS;

/** A reproduction for people: each claim with its verdict, our numbers, the paper's, and the comparisons. */
export function reproductionText(result: Reproduction, format: ReproductionFormat): string {
  const { recipe, tier, seeds, claims } = result;
  const runs = seeds.length === 1 ? "1 seed" : `${seeds.length} seeds (${seeds.join(", ")})`;
  const head = `${recipe}, tier ${tier}, ${runs}`;
  return [
    format === "md" ? `# ${head}` : head,
    ...baseText(result),
    ...calibrationText(result),
    ...claims.map((claim) => claimText(claim, result, format)),
    ...baseTable(result, format),
    tallyText(result),
    methodNote(result),
  ].join("\n\n");
}

/** The settings of `claims.base` beside those of `agentrl train`. */
function baseTable({ base }: Reproduction, format: ReproductionFormat): string[] {
  if (base.length === 0) return [];
  const columns = ["setting", "train", "claims"];
  const rows = base.map(({ key, train, claims }) => [
    ...[key, settingValue(train), settingValue(claims)],
  ]);
  const heading = "Settings of claims that differ";
  return format === "md"
    ? [`## ${heading}`, TABLE_WRITERS.md({ columns, rows })]
    : [`${heading}\n${indented(TABLE_WRITERS.text({ columns, rows }))}`];
}

function claimText(claim: ClaimResult, result: Reproduction, format: ReproductionFormat): string {
  const { id, statement, metric, source, arms, comparisons, isShare } = claim;
  const isMarkdown = format === "md";
  const table = (columns: readonly (Column | string)[], rows: Row[]): string =>
    isMarkdown
      ? TABLE_WRITERS.md({ columns, rows })
      : indented(TABLE_WRITERS.text({ columns, rows }));
  const measured = table(
    [
      "arm",
      { label: "ours", format: value },
      intervalColumn("95 % interval", value),
      { label: "paper", format: value },
      "paper's cell",
    ],
    arms.map(({ name, mean, ci95, paper }) => [
      ...[name, mean, ci95, paper?.value ?? null],
      cellText(paper),
    ]),
  );
  const compared = table(
    [
      "claim",
      { label: "difference", format: difference },
      intervalColumn("95 % interval", difference),
      { label: "p", format: formatP },
      { label: "p (Holm)", format: formatP },
      { label: "detectable", format: formatDetectable(isShare) },
      "",
    ],
    comparisons.map((each) => [
      ...[relationText(each), each.difference, each.ci95, each.p, each.pHolm],
      ...[each.detectable, each.verdict],
    ]),
  );
  const remarks = [
    `${statement} (${source}; ${metric}${claim.questions === null ? "" : `; ${formatCount(claim.questions)} questions`})`,
    ...remarksOn(claim),
  ];
  const heading = `${id}: ${verdictLine(claim, result)}`;
  return isMarkdown
    ? [`## ${heading}`, ...remarks, measured, compared].join("\n\n")
    : [heading, ...remarks.map((line) => `  ${line}`), "", measured, "", compared].join("\n");
}

type Row = (string | number | null | readonly [number, number])[];

/** @example "search > no-search" */
function relationText({ left, relation, right }: ComparisonResult): string {
  return `${left} ${relation} ${right}`;
}

function cellText(paper: PaperCell | null): string {
  if (paper === null) return "";
  const { table: id, system, dataset, model } = paper;
  return [id, system, dataset, ...(model === null ? [] : [model])].join(", ");
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}
