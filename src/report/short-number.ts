/**
 * A number with about three digits that tell, for charts and tables of many scales; used by the pages' script too.
 * @example shortNumber(2522.99) // "2,523"; shortNumber(0.12486) // "0.125"; shortNumber(1.5e-13) // "1.5e−13"
 */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size < 0.001) return value.toExponential(1).replaceAll("-", "−");
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value
    .toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: 0 })
    .replace("-", "−");
}
