/** Number formats for people, in terminals, Markdown and pages. Imports nothing: the pages' script contains this file. */

/** Formats a number. */
export type NumberFormat = (value: number) => string;

/** Replaces a missing number. */
export const ABSENT = "–";

/** A fixed number of decimals. @example fixed(2)(-0.5) // "−0.50" */
export function fixed(decimals: number): NumberFormat {
  return (value) => {
    if (Number.isNaN(value)) return ABSENT;
    const text = value.toFixed(decimals);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
  };
}

/** A difference with its sign; no sign when it rounds to 0. @example signed(3)(0.25) // "+0.250" */
export function signed(decimals: number): NumberFormat {
  return (value) => withPlus(fixed(decimals)(value), value);
}

/** A score or share. @example formatScore(0.5) // "0.500" */
export const formatScore = fixed(3);
/** A score of retrieval or of answers in a file, where small differences count. */
export const formatFineScore = fixed(4);
/** A difference of scores. @example formatDifference(0.1) // "+0.100" */
export const formatDifference = signed(3);
/** A loss or KL, in nats. */
export const formatLoss = fixed(4);
/** A mean of counts: searches, turns. */
export const formatMean = fixed(2);
/** A rate: questions a second, tokens in the mean. */
export const formatRate = fixed(1);

/** A value over many orders of magnitude. @example formatTiny(0.00012) // "1.2e−4" */
export function formatTiny(value: number): string {
  return value === 0 ? "0" : value.toExponential(1).replaceAll("-", "−");
}

/** A sum of money. @example formatMoney({ amount: 1.5, currency: "USD" }) // "1.50 USD" */
export function formatMoney({ amount, currency }: { amount: number; currency: string }): string {
  return `${formatMean(amount)} ${currency}`;
}

/** The time of an ISO date, to the minute. @example formatTime("2026-03-01T12:34:56.789Z") // "2026-03-01 12:34 UTC" */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** Adds "+" to a formatted positive number, unless it rounded to 0. @example withPlus("0.2", 0.2) // "+0.2" */
export function withPlus(text: string, value: number): string {
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** @example formatCount(21015324) // "21,015,324" */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString("en").replace("-", "−");
}

/** @example plural(1, "test") // "1 test"; plural(2, "query", "queries") // "2 queries" */
export function plural(count: number, one: string, several = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : several}`;
}

/** A share in percent, with one decimal below 10 and above 99. @example formatPercent(0.056) // "5.6 %" */
export function formatPercent(share: number): string {
  const value = share * 100;
  if (value === 0 || value === 100) return `${value} %`;
  return `${value.toFixed(value < 10 || value > 99 ? 1 : 0)} %`;
}

/** Bytes in powers of ten. @example formatBytes(12_345_678) // "12.3 MB" */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"] as const;
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit] ?? ""}`;
}

/** @example formatDuration(3.21) // "3.2 s"; formatDuration(200) // "3 min 20 s"; formatDuration(7500) // "2 h 5 min" */
export function formatDuration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return minutes < 10 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
}

/** Milliseconds with three digits. @example formatMilliseconds(0.0412) // "0.041 ms" */
export function formatMilliseconds(milliseconds: number): string {
  const decimals = milliseconds < 1 ? 3 : milliseconds < 10 ? 2 : milliseconds < 100 ? 1 : 0;
  return `${milliseconds.toFixed(decimals)} ms`;
}

/** A p value with four decimals. @example formatP(0.0123) // ".0123"; formatP(0.00001) // "<.0001" */
export function formatP(p: number): string {
  return p < 0.0001 ? "<.0001" : p.toFixed(4).replace(/^0/, "");
}

/** A share for a narrow column: no zero before the point, equal width for all values. @example formatShare(0.9137) // ".914" */
export function formatShare(share: number, decimals = 3): string {
  const text = share.toFixed(decimals);
  return text.startsWith("1")
    ? text.slice(0, -1)
    : text.replace(/^(-?)0\./, "$1.").replace("-", "−");
}

/** A number with about three significant digits. @example shortNumber(2522.99) // "2,523"; shortNumber(0.5) // "0.500" */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size < 0.001) return value.toExponential(1).replaceAll("-", "−");
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value
    .toLocaleString("en", {
      maximumFractionDigits: digits,
      minimumFractionDigits: Number.isInteger(value) ? 0 : digits,
    })
    .replace("-", "−");
}

/** At most this many decimals, without trailing zeros. @example rounded(0.5) // "0.5"; rounded(2 / 3) // "0.667" */
export function rounded(value: number, decimals = 3): string {
  return String(Number(value.toFixed(decimals))).replace("-", "−");
}

/** Formats a number, or "–" when it is missing. */
export function orAbsent(value: number | null | undefined, format: NumberFormat): string {
  return value === null || value === undefined || Number.isNaN(value) ? ABSENT : format(value);
}

/** Both ends of an interval. @example formatInterval([0.1, 0.25], fixed(2)) // "0.10 … 0.25" */
export function formatInterval(
  interval: readonly [number, number] | null | undefined,
  format: NumberFormat,
): string {
  if (interval === null || interval === undefined) return ABSENT;
  return `${format(interval[0])} … ${format(interval[1])}`;
}

/** Text on one line, truncated. @example shorten("a long text", 6) // "a lon…" */
export function shorten(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

/** An argument as a POSIX shell reads it. @example quoted("a b") // "'a b'" */
export function quoted(argument: string): string {
  if (/^[\w@%+=:,./-]+$/.test(argument)) return argument;
  return `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}
