import { unsupported } from "./faults.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
];

/**
 * A date by C's format letters, in UTC and English: a, A, b, B, d, D, e, f, F, h, H, I, j, m, M, n, p, R, S, t, T, w, y, Y, %, and `-`
 * before a letter to remove leading zeros.
 * @throws {TemplateFault} unsupported for other letters.
 * @example strftime(new Date("2026-02-03T04:05:06Z"), "%d %b %Y, %-H:%M") // "03 Feb 2026, 4:05"
 */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)([\s\S]?)/g, (whole, bare: string, letter: string) => {
    const text = parts(date)[letter];
    if (text === undefined) throw unsupported(`${whole} in a date`);
    return bare === "" ? text : text.replace(/^[0 ]+(?=.)/, "");
  });
}

function parts(date: Date): Partial<Record<string, string>> {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = DAYS[date.getUTCDay()] ?? "";
  const month = MONTHS[date.getUTCMonth()] ?? "";
  const hours = date.getUTCHours();
  const newYear = Date.UTC(date.getUTCFullYear(), 0, 1);
  const [m, d, y] = [two(date.getUTCMonth() + 1), two(date.getUTCDate()), two(date.getUTCFullYear() % 100)]; // prettier-ignore
  const [H, M, S] = [two(hours), two(date.getUTCMinutes()), two(date.getUTCSeconds())];
  const Y = String(date.getUTCFullYear());
  return {
    a: day.slice(0, 3),
    A: day,
    b: month.slice(0, 3),
    h: month.slice(0, 3),
    B: month,
    "%": "%",
    n: "\n",
    t: "\t",
    d,
    e: String(date.getUTCDate()).padStart(2, " "),
    m,
    y,
    Y,
    H,
    I: two(hours % 12 === 0 ? 12 : hours % 12),
    M,
    S,
    p: hours < 12 ? "AM" : "PM",
    D: `${m}/${d}/${y}`,
    F: `${Y}-${m}-${d}`,
    R: `${H}:${M}`,
    T: `${H}:${M}:${S}`,
    w: String(date.getUTCDay()),
    f: String(date.getUTCMilliseconds() * 1000).padStart(6, "0"),
    j: String(Math.floor((date.getTime() - newYear) / 86_400_000) + 1).padStart(3, "0"),
  };
}
