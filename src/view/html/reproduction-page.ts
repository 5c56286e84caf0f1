import { fixed, formatInterval, formatP, signed } from "../../base/format.ts";
import { formatDetectable } from "../../experiment/claims/power.ts";
import {
  baseText,
  calibrationText,
  methodNote,
  remarksOn,
  settingValue,
  tallyText,
  verdictLine,
} from "../../experiment/claims/verdict-text.ts";
import type {
  ArmResult,
  ClaimResult,
  Reproduction,
  ComparisonResult,
} from "../../experiment/claims/claim-results.ts";
import { axisTo, dotWhisker, tickLabels } from "../charts/marks.ts";
import type { Arm } from "../runs/arms.ts";
import { partsOf } from "../runs/run-parts.ts";
import { measured, small, tableCard, unseenLabel } from "./html-table.ts";
import type { Made } from "./made.ts";
import { type Content, html, type Markup, note, seriesLabel, tag, unseen } from "./markup.ts";
import { type ReportSection, reportPage } from "./report-page.ts";
import { curveControls, curveNote, curvePart } from "./run-curves.ts";

const [value, difference] = [fixed(3), signed(3)];

/**
 * A reproduction as one self-contained page, in pieces: verdicts first, then each claim's arms beside the paper's cells, the curves of
 * training, and what the recipe does otherwise than the paper.
 *
 * @param arms runs of each arm that trained, by the arms' names.
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function* reproductionPage(
  result: Reproduction,
  { arms, made }: { arms: readonly Arm[]; made: Made },
): AsyncGenerator<string> {
  const { recipe, paper, summary, tier, seeds, claims, notes } = result;
  const parts = await partsOf(arms);
  const sections: (ReportSection | false)[] = [
    {
      id: "verdicts",
      title: "Verdicts",
      note: tallyText(result),
      content: [
        tag(
          "div",
          { class: "answers" },
          claims.map((claim) => verdictCard(claim, result)),
        ),
        [...baseText(result), ...calibrationText(result), methodNote(result)].map((text) =>
          note(text),
        ),
      ],
    },
    ...claims.map((claim) => ({
      id: claim.id,
      title: claim.id,
      note: `${claim.metric}, ${claim.source}`,
      content: claimTables(claim),
    })),
    {
      id: "differences",
      title: "What is different from the paper",
      content: [
        tag(
          "ul",
          { class: "notes" },
          [tierNote(tier), ...notes].map((each) => tag("li", {}, each)),
        ),
      ],
    },
    result.base.length > 0 && {
      id: "base",
      title: "Settings of claims",
      note: "those that differ from agentrl train",
      content: baseTable(result.base),
    },
    parts.length > 0 && {
      id: "curves",
      title: "Curves",
      note: "by step",
      content: [curveControls(parts), parts.flatMap(curvePart), note(curveNote(parts))],
    },
  ];
  yield* reportPage({
    kind: "reproduction",
    title: paper?.title ?? recipe,
    made,
    headlines: [
      html`<p class="headline"><b>${recipe}</b>: ${summary}</p>`,
      html`<p class="headline">
        ${[
          ...(paper === null ? [] : [`paper ${paper.id}`]),
          `tier ${tier}`,
          `${seeds.length === 1 ? "seed" : "seeds"} ${seeds.join(", ")}`,
          ...measuredOn(claims),
        ].join(" · ")}
      </p>`,
    ],
    sections: sections.filter((section) => section !== false),
    viewer: null,
    hasCurves: parts.length > 0 ? true : undefined,
  });
}

/** The settings of `claims.base` beside those of `agentrl train`. */
export function baseTable(base: Reproduction["base"]): Markup {
  return tableCard({
    caption: "Settings of claims that differ",
    className: "plain",
    columns: ["setting", "train", "claims"],
    rows: base.map(({ key, train, claims }) => [
      ...[tag("code", {}, key), settingValue(train), settingValue(claims)],
    ]),
  });
}

/** Colour of a verdict. */
export const TONES: Partial<Record<ClaimResult["verdict"], string>> = {
  supported: "right",
  "not supported": "wrong",
  different: "wrong",
};

function verdictCard(claim: ClaimResult, result: Reproduction): Markup {
  const [verdict, reason] = splitReason(verdictLine(claim, result));
  return html`<div class="card answer">
    <p class="${`big badge-text ${TONES[claim.verdict] ?? ""}`}">${verdict}</p>
    ${reason !== null && tag("p", {}, reason)}
    <p class="statement">${claim.statement}</p>
    ${claim.comparisons.map(
      ({ left, relation, right, difference: by, ci95, pHolm }) =>
        html`<p>
          <code>${left} ${relation} ${right}</code>:
          <b>${difference(by)}</b>${small(spread(ci95, pHolm))}
        </p>`,
    )}
    <p><a href="#${claim.id}">Arms and the paper’s cells</a></p>
  </div> `;
}

/** @example spread([0.1, 0.2], 0.01) // "+0.100 … +0.200, p .0100" */
function spread(ci95: ComparisonResult["ci95"], p: number | null): string {
  const interval = ci95 === null ? [] : [formatInterval(ci95, difference)];
  return [...interval, ...(p === null ? [] : [`p ${formatP(p)}`])].join(", ");
}

/** "VERDICT (reason)" → both parts. */
export function splitReason(line: string): readonly [string, string | null] {
  const at = line.indexOf(" (");
  return at < 0 ? [line, null] : [line.slice(0, at), line.slice(at + 2, -1)];
}

/** A claim with its arms beside the paper's cells, and its comparisons. */
export function claimTables(claim: ClaimResult): Content {
  const { arms, comparisons, isShare } = claim;
  const ends = arms.flatMap(({ mean, ci95, paper }) => [ci95?.[1] ?? mean, paper?.value ?? 0]);
  const axis = axisTo(isShare ? 1 : Math.max(...ends, 0));
  const ours = tableCard({
    caption: "Arms",
    className: "panel lines",
    columns: [
      "arm",
      { label: [tickLabels(axis), unseen("chart")], stacked: "chart", className: "chart" },
      { label: "ours, 95 % interval", className: "number" },
      { label: "by seed", className: "what" },
      { label: "paper", className: "what" },
    ],
    rows: arms.map((arm, series) => [
      seriesLabel(series, arm.name),
      [
        dotWhisker({ value: arm.mean, interval: arm.ci95, series }, axis),
        arm.paper !== null &&
          dotWhisker({ value: arm.paper.value, interval: null, series: PAPER }, axis),
      ],
      measured(arm.mean, value, arm.ci95),
      arm.values.map(value).join(", "),
      paperCell(arm),
    ]),
  });
  const compared = tableCard({
    caption: "Comparisons",
    className: "plain",
    columns: [
      "comparison",
      { label: "difference", align: "right" },
      { label: "p", format: formatP },
      { label: "p after Holm’s correction", format: formatP },
      { label: "detectable", format: formatDetectable(isShare) },
      "verdict",
    ],
    rows: comparisons.map(({ left, relation, right, difference: by, ci95, ...each }) => [
      tag("code", {}, `${left} ${relation} ${right}`),
      measured(by, difference, ci95),
      ...[each.p, each.pHolm, each.detectable, each.verdict],
    ]),
  });
  return [
    tag("p", { class: "statement" }, claim.statement),
    ours,
    arms.some(({ paper }) => paper !== null) &&
      note("Upper dot: ours, with its interval. Lower dot: the paper’s cell."),
    remarksOn(claim).map((text) => note(text)),
    compared,
  ];
}

/** Colour of the paper's dots: the grey one. */
const PAPER = 5;

function paperCell({ paper }: ArmResult): Content {
  if (paper === null) return unseenLabel("no cell").label;
  const where = [
    paper.table,
    paper.system,
    paper.dataset,
    ...((paper.model ?? "") ? [paper.model] : []),
  ];
  return [
    tag("b", {}, value(paper.value)),
    small(where.filter((each) => each !== null).join(", ")),
  ];
}

function measuredOn(claims: readonly ClaimResult[]): string[] {
  const arms = claims.flatMap((claim) => claim.arms);
  const datasets = [...new Set(arms.map(({ dataset }) => dataset))];
  const models = [...new Set(arms.map(({ model }) => model))];
  return [`dataset ${datasets.join(", ")}`, `policy ${models.join(", ")}`];
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
