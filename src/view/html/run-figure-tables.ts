import { fixed, formatCount, formatP, shortNumber, signed, withPlus } from "../../base/format.ts";
import type { ArmComparison } from "../../experiment/arm-comparison.ts";
import { disagreementNotes } from "../../evaluate/paired-test.ts";
import { metricLabel } from "../../evaluate/metrics/metric-columns.ts";
import type { HeldOutFigure, PairedDifference } from "../runs/held-out-comparison.ts";
import { type LastFigure, lastStepsText } from "../runs/last-steps.ts";
import { measured, small, tableCard } from "./html-table.ts";
import { type Content, note, seriesLabel, tag } from "./markup.ts";

const difference = signed(3);

/** The arms on held-out questions: before, after, the change, and compared with the first arm. */
export function heldOutTable(
  caption: string,
  found: readonly { metric: "em" | "f1"; figures: readonly HeldOutFigure[] }[],
): Content {
  const several = found.some(({ figures }) => figures.length > 1);
  const first = found[0]?.figures[0]?.arm.name ?? "";
  const reasons = found.flatMap(({ figures }) =>
    figures.flatMap(({ change, against }) =>
      [change, against].filter((each) => typeof each === "string"),
    ),
  );
  const share = { format: fixed(3) };
  const right = { align: "right" } as const;
  return [
    tableCard({
      caption,
      className: "plain figures-table",
      columns: [
        "arm",
        { label: "runs", format: formatCount },
        ...["before", "after"].map((label) => ({ label, ...share })),
        { label: "change", ...right },
        ...(several ? [{ label: `against ${first}`, ...right }] : []),
      ],
      groups: found.map(({ metric, figures }) => ({
        title: metricLabel(metric),
        rows: figures.map(({ arm, runs, before, after, change, against }) => [
          ...[seriesLabel(arm.series, arm.name), runs, before, measured(after, share.format)],
          ...[differenceCell(change), ...(several ? [differenceCell(against)] : [])],
        ]),
      })),
    }),
    disagreementNotes(
      found.flatMap(({ figures }) =>
        figures
          .flatMap(({ change, against }) => [change, against])
          .filter((each) => each !== null && typeof each !== "string"),
      ),
    ).map((text) => note(text)),
    [...new Set(reasons)].map((reason) => note(tag("b", {}, "Not compared:"), ` ${reason}`)),
  ];
}

/** How the differences of `heldOutTable` were computed. */
export const PAIRED_NOTE =
  "Differences are paired by question, with 95 % bootstrap intervals (over questions, and runs if an arm has several) and p of a permutation test after Holm’s correction.";

const TONES: Record<PairedDifference["verdict"], string | null> = {
  higher: "right",
  lower: "wrong",
  "no difference shown": null,
};

/** A difference with its interval and p. */
export function differenceCell(found: PairedDifference | string | null): Content {
  if (found === null) return null;
  if (typeof found === "string") return "not compared";
  const { ci95, p, verdict } = found;
  const [low, high] = ci95.map(difference);
  return [
    tag("b", { class: TONES[verdict] }, difference(found.difference)),
    small(`${low ?? ""} to ${high ?? ""}, p ${formatP(p)}`),
  ];
}

/** Training's own metrics over its last steps, by arm; under each the difference to the first arm. */
export function lastStepsTable(figures: readonly LastFigure[]): Content {
  const arms = figures[0]?.arms.map(({ arm }) => arm) ?? [];
  const isStill = ({ arms: own }: LastFigure): boolean =>
    own.every(({ summary }) => summary === null || (summary.mean === 0 && !summary.deviation));
  const still = figures.filter(isStill).map(({ spec }) => spec.title);
  return [
    tableCard({
      caption: `Means of the ${lastStepsText(figures)}`,
      className: "plain figures-table last-steps",
      columns: [
        "metric",
        ...arms.map(({ series, name }) => ({
          label: seriesLabel(series, name),
          align: "right" as const,
        })),
      ],
      rows: figures
        .filter((figure) => !isStill(figure))
        .map(({ spec, arms: own }) => [
          [spec.title, spec.unit !== "" && small(spec.unit)],
          ...own.map(({ summary, against }) =>
            summary === null
              ? null
              : [summaryCell(summary), against !== null && againstCell(against, summary.mean)],
          ),
        ]),
    }),
    still.length > 0 && note(`0 throughout: ${still.join(", ")}.`),
    arms.length > 1 &&
      note(
        `Under each mean: the difference to ${arms[0]?.name ?? ""}, with its 95 % t interval if arms have several runs.`,
      ),
  ];
}

function summaryCell({
  mean,
  deviation,
  n,
}: NonNullable<LastFigure["arms"][number]["summary"]>): Content {
  const spread = deviation !== null && small(`± ${shortNumber(clear(deviation, mean))}, n ${n}`);
  return [tag("b", {}, shortNumber(mean)), spread];
}

function againstCell({ difference: by, ci95 }: ArmComparison, mean: number): Content {
  const plus = (value: number): string => {
    const shown = clear(value, mean);
    return withPlus(shortNumber(shown), shown);
  };
  const spread = (ci95 ?? []).some((end) => clear(end, mean) !== 0);
  const interval = ci95 !== null && spread && ` (${plus(ci95[0])} to ${plus(ci95[1])})`;
  return tag("small", { class: "against" }, plus(by), interval);
}

/** A difference of means; 0 if only rounding separates them. */
function clear(value: number, mean: number): number {
  return Math.abs(value) < 1e-9 * Math.abs(mean) ? 0 : value;
}
