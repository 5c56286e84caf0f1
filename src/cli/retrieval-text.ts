import { fixed, formatP, signed } from "../base/format.ts";
import { intervalColumn, renderText } from "../base/table.ts";
import { disagreementNotes } from "../evaluate/paired-test.ts";
import type { MetricComparison, RetrievalScores } from "../evaluate/retrieval-scores.ts";

const [value, difference] = [fixed(4), signed(4)];

/** Scores of a retriever or run for people: a row per metric with its interval, and a column per number of hops. */
export function scoresText(name: string, scores: RetrievalScores): string {
  const { n, metrics, intervals, groups, fingerprint } = scores;
  const hops = Object.entries(groups.hops);
  // A single group equals the whole.
  const shown = hops.length > 1 ? hops : [];
  const only = hops.length === 1 ? ` (all ${hops[0]?.[0] ?? ""})` : "";
  return [
    `${name}: ${n} queries${only}`,
    "",
    renderText({
      columns: [
        "",
        { label: "mean", format: value },
        intervalColumn("95 % interval", value),
        ...shown.map(([group, of]) => ({ label: `${group} (${of.n})`, format: value })),
      ],
      rows: Object.entries(metrics).map(([metric, mean]) => [
        ...[metric, mean, intervals[metric]],
        ...shown.map(([, group]) => group.metrics[metric] ?? null),
      ]),
    }),
    "",
    `protocol ${fingerprint}`,
  ].join("\n");
}

/** A comparison for people: difference with interval, p before and after Holm's correction, verdict. */
export function comparisonText(other: string, metrics: readonly MetricComparison[]): string {
  const open = metrics.some(({ verdict }) => verdict === "no difference shown");
  return [
    `compared with ${other}`,
    "",
    renderText({
      columns: [
        "",
        { label: "theirs", format: value },
        { label: "difference", format: difference },
        intervalColumn("95 % interval", difference),
        { label: "p", format: formatP },
        { label: "Holm", format: formatP },
        "verdict",
      ],
      rows: metrics.map(({ metric, right, difference: by, ci95, p, pHolm, verdict }) => [
        ...[metric, right, by, ci95, p, pHolm, verdict],
      ]),
    }),
    "",
    "p: paired permutation test over queries; Holm: corrected for the number of metrics, level .05",
    ...disagreementNotes(metrics.map(({ ci95, pHolm: p }) => ({ ci95, p }))),
    ...(open ? ["no difference shown: the two may still differ"] : []),
  ].join("\n");
}
