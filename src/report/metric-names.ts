/** The metrics of answers that are shown first, in charts and tables. */
export const PRIMARY_METRICS: readonly string[] = ["em", "f1", "cover_em"];

const LABELS: Readonly<Record<string, string>> = {
  em: "EM",
  f1: "F1",
  cover_em: "cover-EM",
  answer_rate: "answered",
  format_rate: "well-formed",
  completion_tokens: "tokens written",
};

/** A metric's name for people. @example metricLabel("searches_per_question") // "searches per question" */
export function metricLabel(name: string): string {
  return LABELS[name] ?? name.replaceAll("_", " ");
}

/** Shares in thousandths, other amounts with as many digits as tell them apart; "–" where there is none. */
export function shownNumber(value: number | null | undefined, range: "share" | "amount"): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (range === "share") return value.toFixed(3);
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}
