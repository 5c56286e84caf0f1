/** What Python's `str.isspace` takes for white space; JavaScript's `trim` takes other characters. */
const SPACES = new Set(
  "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
);

export function isSpace(character: string | undefined): boolean {
  return character !== undefined && SPACES.has(character);
}

/** The characters of a text as Python counts them: code points. */
export function codePoints(text: string): string[] | string {
  return /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
}

/** `str.strip`, `lstrip` and `rstrip`. @param chars characters to remove; white space where absent. */
export function stripped(text: string, side: "both" | "start" | "end", chars?: string): string {
  const points = codePoints(text);
  const removed = chars === undefined ? SPACES : new Set(chars);
  let start = 0;
  let end = points.length;
  if (side !== "end") while (start < end && removed.has(points[start] ?? "")) start += 1;
  if (side !== "start") while (end > start && removed.has(points[end - 1] ?? "")) end -= 1;
  return joined(points.slice(start, end));
}

export function joined(points: string[] | string): string {
  return typeof points === "string" ? points : points.join("");
}

/** `str.split` and `rsplit`. @param most splits at most; negative: all. @param sep white space where null. */
export function split(text: string, sep: string | null, most: number, fromEnd: boolean): string[] {
  const pieces = sep === null ? words(text) : pieceRanges(text, sep);
  if (most < 0 || pieces.length <= most + (sep === null ? 0 : 1))
    return pieces.map(([start, end]) => text.slice(start, end));
  if (sep === null && most === pieces.length) return pieces.map(([start, end]) => text.slice(start, end)); // prettier-ignore
  if (fromEnd) {
    const kept = most === 0 ? [] : pieces.slice(-most);
    const restEnd = pieces[pieces.length - most - 1]?.[1] ?? 0;
    const rest = sep === null ? stripped(text.slice(0, restEnd), "end") : text.slice(0, restEnd);
    return [rest, ...kept.map(([start, end]) => text.slice(start, end))];
  }
  const rest = text.slice(pieces[most]?.[0]);
  return [...pieces.slice(0, most).map(([start, end]) => text.slice(start, end)), rest];
}

type Range = readonly [start: number, end: number];

function pieceRanges(text: string, sep: string): Range[] {
  const ranges: Range[] = [];
  let start = 0;
  for (let at = text.indexOf(sep); at >= 0; at = text.indexOf(sep, start)) {
    ranges.push([start, at]);
    start = at + sep.length;
  }
  return [...ranges, [start, text.length]];
}

function words(text: string): Range[] {
  const ranges: Range[] = [];
  let start = -1;
  for (let at = 0; at <= text.length; at += 1) {
    const inside = at < text.length && !isSpace(text[at]);
    if (inside && start < 0) start = at;
    if (!inside && start >= 0) {
      ranges.push([start, at]);
      start = -1;
    }
  }
  return ranges;
}

// eslint-disable-next-line no-control-regex -- Python ends lines at these
const LINE = /([^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*)(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|$)/g;

export function splitLines(text: string, keepEnds = false): string[] {
  const lines = Array.from(text.matchAll(LINE), ([whole, line = ""]) => [whole, line] as const);
  return lines.filter(([whole]) => whole !== "").map(([whole, line]) => (keepEnds ? whole : line));
}
