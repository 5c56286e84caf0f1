import { formatCount, formatDifference, formatP, formatScore } from "../../base/format.ts";
import type { PaperCell } from "../../run/claims.ts";
import type {
  ClaimResult,
  ComparisonResult,
  Reproduction,
} from "../../experiment/claims/claim-results.ts";
import { formatDetectable } from "../../experiment/claims/power.ts";
import {
  baseText,
  calibrationText,
  givenText,
  methodNote,
  remarksOn,
  settingValue,
  tallyText,
  verdictLine,
} from "../../experiment/claims/verdict-text.ts";
import { axisTo } from "../charts/marks.ts";
import { type Block, code, type Column, type Document, named, note, table } from "../document.ts";
import type { Arm } from "../runs/arms.ts";
import { partsOf } from "../runs/run-parts.ts";

/**
 * A reproduction: verdicts first, then each claim's arms beside the paper's cells, the curves of training, and what differs from the paper.
 * @param arms runs of each arm that trained, by the arms' names.
 */
export async function reproductionDocument(
  result: Reproduction,
  arms: readonly Arm[],
): Promise<Document> {
  const { recipe, paper, summary, tier, seeds, claims, base } = result;
  const parts = await partsOf(arms);
  const measured = claims.flatMap((claim) => claim.arms);
  const distinct = (of: "dataset" | "model"): string =>
    [...new Set(measured.map((arm) => arm[of]))].join(", ");
  return {
    kind: "reproduction",
    title: paper?.title ?? recipe,
    lead: [
      [{ style: "strong", text: recipe }, `: ${summary}`],
      [
        ...(paper === null ? [] : [`paper ${paper.id}`]),
        `tier ${tier}`,
        `${seeds.length === 1 ? "seed" : "seeds"} ${seeds.join(", ")}`,
        `dataset ${distinct("dataset")}`,
        `policy ${distinct("model")}`,
      ].join(" · "),
    ],
    viewer: null,
    sections: [
      {
        id: "verdicts",
        title: "Verdicts",
        note: tallyText(result),
        blocks: [
          { kind: "figures", figures: claims.map(verdictFigure) },
          ...[
            ...givenText(result),
            ...baseText(result),
            ...calibrationText(result),
            methodNote(result),
          ].map((text) => note(text)),
        ],
      },
      ...claims.map((claim) => ({
        id: claim.id,
        title: claim.id,
        note: `${claim.verdict}; ${claim.metric}, ${claim.source}`,
        blocks: claimBlocks(claim),
      })),
      {
        id: "differences",
        title: "What is different from the paper",
        blocks: [{ kind: "list" as const, items: [tierNote(tier), ...result.notes] }],
      },
      ...(base.length === 0
        ? []
        : [
            {
              id: "base",
              title: "Settings of claims",
              note: "those that differ from agentrl train",
              blocks: [baseTable(result)],
            },
          ]),
      ...(parts.length === 0
        ? []
        : [
            {
              id: "curves",
              title: "Curves",
              note: "by step",
              blocks: [{ kind: "curves" as const, parts }],
            },
          ]),
    ],
  };
}

/** The settings of `claims.base` beside those of `agentrl train`. */
export function baseTable({ base }: Pick<Reproduction, "base">): Block {
  const rows = base.map(({ key, train, claims }) => [
    code(key),
    settingValue(train),
    settingValue(claims),
  ]);
  return table("Settings of claims that differ", ["setting", "train", "claims"], rows);
}

/** How a verdict is coloured. */
export const VERDICT_TONES: Partial<Record<ClaimResult["verdict"], "good" | "bad">> = {
  supported: "good",
  reversed: "bad",
  "ruled out": "bad",
  different: "bad",
};

function verdictFigure(claim: ClaimResult): Extract<Block, { kind: "figures" }>["figures"][number] {
  const [verdict, reason] = splitReason(verdictLine(claim));
  return {
    name: claim.id,
    value: verdict,
    tone: VERDICT_TONES[claim.verdict],
    label: "",
    details: [reason, claim.statement],
  };
}

/** "VERDICT (reason)" → both parts. */
export function splitReason(line: string): readonly [string, string | null] {
  const at = line.indexOf(" (");
  return at < 0 ? [line, null] : [line.slice(0, at), line.slice(at + 2, -1)];
}

/** A claim with its arms beside the paper's cells, and its comparisons. */
export function claimBlocks(claim: ClaimResult): Block[] {
  const { arms, comparisons, isShare, questions } = claim;
  const ends = arms.flatMap(({ mean, ci95, paper }) => [ci95?.[1] ?? mean, paper?.value ?? 0]);
  const score = { format: formatScore };
  const p: Column[] = [
    { label: "p", format: formatP, drawn: true, className: "number" },
    { label: "Holm", format: formatP },
  ];
  const of = questions === null ? "" : `; ${formatCount(questions)} questions`;
  const blocks: Block[] = [
    { kind: "text", text: `${claim.statement} (${claim.source}; ${claim.metric}${of})` },
    ...remarksOn(claim).map((text) => note(text)),
    table(
      "Arms",
      [
        "arm",
        { label: "chart", axis: axisTo(isShare ? 1 : Math.max(...ends, 0)) },
        { label: "ours", ...score },
        { label: "by seed", drawn: true, className: "what" },
        { label: "paper", ...score },
        { label: "paper's cell", className: "what" },
      ],
      arms.map(({ name, mean, ci95, values, paper }, series) => [
        named(series, name),
        {
          dots: [
            { value: mean, interval: ci95, series },
            ...(paper === null ? [] : [{ value: paper.value, interval: null, series: PAPER }]),
          ],
        },
        { value: mean, interval: ci95 },
        values.map(formatScore).join(", "),
        paper === null ? "" : paper.value,
        cellText(paper),
      ]),
      "panel lines",
    ),
    table(
      "Comparisons",
      [
        "comparison",
        { label: "difference", format: formatDifference },
        ...p,
        { label: "detectable", format: formatDetectable(isShare) },
        "verdict",
      ],
      comparisons.map(({ difference, ci95, ...each }) => [
        code(relationText(each)),
        { value: difference, interval: ci95 },
        ...[each.p, each.pHolm, each.detectable],
        { text: each.verdict, style: VERDICT_TONES[each.verdict] ?? "plain" },
      ]),
    ),
  ];
  // A claim without results has no table of them.
  return blocks.filter(
    (each) => each.kind !== "table" || each.groups.some(({ rows }) => rows.length > 0),
  );
}

/** Colour of the paper's dots: the grey one. */
const PAPER = 5;

/** @example "search > no-search" */
function relationText({
  left,
  relation,
  right,
}: Pick<ComparisonResult, "left" | "relation" | "right">): string {
  return `${left} ${relation} ${right}`;
}

function cellText(paper: PaperCell | null): string {
  if (paper === null) return "";
  const { table: id, system, dataset, model } = paper;
  return [id, system, dataset, ...(model === null ? [] : [model])].join(", ");
}

/** What a tier's results are worth. */
export function tierNote(tier: Reproduction["tier"]): string {
  switch (tier) {
    case "smoke":
      return "Tier smoke: a few steps on a few questions, to show that the experiment runs. It proves nothing.";
    case "mini":
      return "Tier mini: a small model on a small dataset, in minutes on a CPU. It tests the direction of a claim, not its size.";
    case "paper":
      return "Tier paper: the published settings.";
  }
}
