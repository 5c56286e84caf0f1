import type { MetricComparison, RetrievalScores } from "../evaluate/retrieval-scores.ts";
import type { Interval } from "../evaluate/statistics.ts";
import { table } from "./table.ts";

/** Scores of a retriever or run for people: a row per metric with its interval, and a column per number of hops. */
export function scoresText(name: string, scores: RetrievalScores): string {
  const { n, metrics, intervals, groups, fingerprint } = scores;
  const hops = Object.entries(groups.hops);
  // One group is the whole.
  const shown = hops.length > 1 ? hops : [];
  const rows = Object.entries(metrics).map(([metric, value]) => [
    metric,
    value.toFixed(4),
    intervalText(intervals[metric]),
    ...shown.map(([, group]) => (group.metrics[metric] ?? Number.NaN).toFixed(4)),
  ]);
  const only = hops.length === 1 ? ` (all ${hops[0]?.[0] ?? ""})` : "";
  return [
    `${name}: ${n} queries${only}`,
    "",
    table(rows, {
      head: ["", "mean", "95 % interval", ...shown.map(([group, of]) => `${group} (${of.n})`)],
      align: ["left", "right", "left", ...shown.map((): "right" => "right")],
    }),
    "",
    `protocol ${fingerprint}`,
  ].join("\n");
}

/** A comparison for people: difference with interval, p before and after Holm's correction, verdict. */
export function comparisonText(other: string, metrics: readonly MetricComparison[]): string {
  const rows = metrics.map(({ metric, right, difference, ci95, p, pHolm, verdict }) => [
    metric,
    right.toFixed(4),
    signed(difference),
    `${signed(ci95[0])} – ${signed(ci95[1])}`,
    probability(p),
    probability(pHolm),
    verdict,
  ]);
  const open = metrics.some(({ verdict }) => verdict === "no difference shown");
  return [
    `against ${other}`,
    "",
    table(rows, {
      head: ["", "theirs", "difference", "95 % interval", "p", "p (Holm)", "verdict"],
      align: ["left", "right", "right", "left", "right", "right"],
    }),
    "",
    "p: paired permutation test over queries; Holm: corrected for the number of metrics, level .05",
    ...(open
      ? ["no difference shown: these queries do not tell; it does not say that the two are equal"]
      : []),
  ].join("\n");
}

function intervalText(interval: Interval | undefined): string {
  return interval === undefined ? "" : interval.map((end) => end.toFixed(4)).join(" – ");
}

function signed(value: number): string {
  const text = Math.abs(value).toFixed(4);
  if (Number(text) === 0) return text;
  return `${value > 0 ? "+" : "-"}${text}`;
}

function probability(p: number): string {
  return p < 0.0001 ? "<.0001" : p.toFixed(4);
}
