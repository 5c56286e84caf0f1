// Tables for people.

/** Columns of equal width: the first to the left, the others to the right. */
export function aligned(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Three digits or so; empty where there is no number. */
export function short(value) {
  if (value === undefined || value === null || Number.isNaN(value)) return "";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}

/** All numbers of a result to four digits after the point at most. */
export function rounded(value) {
  if (typeof value === "number") return Number(value.toFixed(4));
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rounded(each)]));
}

/** A measured ratio against its bar, both kept. */
export function bar(ratio, least) {
  return { ratio, bar: least, passed: ratio >= least };
}

export function verdicts(bars) {
  return Object.entries(bars).map(
    ([name, { ratio, bar: least, passed }]) =>
      `${name}: ${short(ratio)} ×${least === undefined ? "" : ` (bar ${least}) ${passed ? "ok" : "MISSED"}`}`,
  );
}
