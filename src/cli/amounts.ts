/** Bytes for people, in powers of ten. @example bytesText(12_345_678) // "12.3 MB" */
export function bytesText(bytes: number): string {
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

/** A duration for people. @example secondsText(75) // "75.0 s"; secondsText(7300) // "2.0 h" */
export function secondsText(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  return seconds < 7200 ? `${(seconds / 60).toFixed(0)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Milliseconds with three digits. @example millisecondsText(0.0412) // "0.041 ms" */
export function millisecondsText(milliseconds: number): string {
  const digits = milliseconds < 1 ? 3 : milliseconds < 10 ? 2 : milliseconds < 100 ? 1 : 0;
  return `${milliseconds.toFixed(digits)} ms`;
}

/** A whole number with its thousands apart. @example countText(21015324) // "21 015 324" */
export function countText(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, " ");
}
