const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
];

/**
 * A date by C's format letters, in UTC and English: a, A, b, B, d, e, H, I, j, m, M, p, S, y, Y, %, and `-` before a letter for
 * no leading zero. Other letters stay as they are.
 * @example strftime(new Date("2026-02-03T04:05:06Z"), "%d %b %Y, %-H:%M") // "03 Feb 2026, 4:05"
 */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)([a-zA-Z%])/g, (whole, bare: string, letter: string) => {
    const text = parts(date)[letter];
    if (text === undefined) return whole;
    return bare === "" ? text : text.replace(/^[0 ]+(?=.)/, "");
  });
}

function parts(date: Date): Partial<Record<string, string>> {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = DAYS[date.getUTCDay()] ?? "";
  const month = MONTHS[date.getUTCMonth()] ?? "";
  const hours = date.getUTCHours();
  const newYear = Date.UTC(date.getUTCFullYear(), 0, 1);
  return {
    ...{ a: day.slice(0, 3), A: day, b: month.slice(0, 3), B: month, "%": "%" },
    ...{ d: two(date.getUTCDate()), e: String(date.getUTCDate()).padStart(2, " ") },
    ...{ m: two(date.getUTCMonth() + 1), y: two(date.getUTCFullYear() % 100) },
    ...{
      Y: String(date.getUTCFullYear()),
      H: two(hours),
      I: two(hours % 12 === 0 ? 12 : hours % 12),
    },
    ...{ M: two(date.getUTCMinutes()), S: two(date.getUTCSeconds()), p: hours < 12 ? "AM" : "PM" },
    j: String(Math.floor((date.getTime() - newYear) / 86_400_000) + 1).padStart(3, "0"),
  };
}
