import { pythonAttribute } from "./attributes.ts";
import { LIST_FILTERS, folded, getter } from "./list-filters.ts";
import { arithmetic, compare, numberOf, requiredLength } from "./operators.ts";
import { argumentsOf, integerOf, textOf } from "./parameters.ts";
import { fixed, percentFormatted } from "./percent-format.ts";
import { codePoints, joined, splitLines, stripped } from "./python-text.ts";
import { FILTER_NAMES } from "./scope.ts";
import { capitalized, joinTexts, replaced, textMethod } from "./text-methods.ts";
import { Dict, type Given, Lazy, SafeText, Tuple, Undefined, type Value, View, isTrue, itemsOf, requireLength, typeName, unsupported, wrong } from "./values.ts"; // prettier-ignore
import { escaped, json, str } from "./written.ts";

type Args = readonly (Value | undefined)[];
/** A filter: its arguments after the subject. */
export type Filter = readonly [names: readonly string[], required: number, call: (subject: Value, args: Args) => Value]; // prettier-ignore

const FILTERS: Readonly<Record<string, Filter>> = {
  abs: [[], 0, (value) => {
    const number = numberOf(value);
    if (number === null) throw wrong(`bad operand type for abs(): '${typeName(value)}'`);
    return number < 0 || Object.is(number, -0) ? -number : number;
  }], // prettier-ignore
  attr: [["name"], 1, (value, [name = null]) => {
    const key = textOf(name, "attr");
    const found = pythonAttribute(value, key);
    return found === undefined ? new Undefined(`'${typeName(value)}' has no attribute '${key}'`) : found; // prettier-ignore
  }], // prettier-ignore
  capitalize: [[], 0, (value) => capitalized(soft(value))],
  center: [["width"], 0, (value, [width = 80n]) => method(soft(value), "center", width)],
  ...same(["count", "length"], [[], 0, requiredLength]),
  ...same(["d", "default"], [["default_value", "boolean"], 0, (value, [absent = "", boolean = false]) =>
    value instanceof Undefined || (isTrue(boolean) && !isTrue(value)) ? absent : value]), // prettier-ignore
  dictsort: [["case_sensitive", "by", "reverse"], 0, dictsort],
  ...same(["e", "escape"], [[], 0, (value) => value instanceof SafeText ? value : escaped(str(value))]), // prettier-ignore
  forceescape: [[], 0, (value) => escaped(str(value))],
  float: [["default"], 0, (value, [absent = 0]) => floatOf(value) ?? absent],
  indent: [["width", "first", "blank"], 0, indented],
  int: [["default", "base"], 0, integer],
  items: [[], 0, (value) => {
    if (!(value instanceof Dict) && !(value instanceof Undefined)) throw wrong("can only get item pairs from a mapping"); // prettier-ignore
    return new Lazy(value instanceof Dict ? new View(value, "items") : []);
  }], // prettier-ignore
  join: [["d", "attribute"], 0, (value, [separator = "", path = null]) =>
    joinTexts(str(separator), Array.from(itemsOf(value), (each) => str(path === null ? each : getter(path)(each))))], // prettier-ignore
  lower: [[], 0, (value) => soft(value).toLowerCase()],
  replace: [["old", "new", "count"], 2, (value, [old = null, by = null, count = null]) =>
    replaced(str(value), str(old), str(by), count === null ? -1 : integerOf(count, "replace"))], // prettier-ignore
  round: [["precision", "method"], 0, rounded],
  safe: [[], 0, (value) => (value instanceof SafeText ? value : new SafeText(str(value)))],
  string: [[], 0, (value) => (value instanceof SafeText ? value : str(value))],
  title: [[], 0, (value) => {
    const pieces = splitWords(soft(value));
    return pieces.map((piece) => {
      const [first = ""] = piece;
      return first.toUpperCase() + piece.slice(first.length).toLowerCase();
    }).join("");
  }], // prettier-ignore
  tojson: [["ensure_ascii", "indent", "separators", "sort_keys"], 0, toJson],
  trim: [["chars"], 0, (value, [chars = null]) => stripped(soft(value), "both", chars === null ? undefined : textOf(chars, "trim"))], // prettier-ignore
  truncate: [["length", "killwords", "end", "leeway"], 0, truncated],
  upper: [[], 0, (value) => soft(value).toUpperCase()],
  wordcount: [[], 0, (value) => BigInt(soft(value).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0)],
};

/** Applies a filter. */
export function filtered(name: string, subject: Value, given: Given): Value {
  if (name === "format") {
    if (given.named.size > 0 && given.positional.length > 0) throw wrong("format: arguments by place and by name"); // prettier-ignore
    const dict = new Dict();
    for (const [key, value] of given.named) dict.set(key, value);
    return percentFormatted(soft(subject), dict.size > 0 ? dict : new Tuple(given.positional));
  }
  const listFilter = Object.hasOwn(LIST_FILTERS, name) ? LIST_FILTERS[name] : undefined;
  if (listFilter !== undefined) return listFilter(subject, given, filtered);
  const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  if (filter === undefined) {
    throw FILTER_NAMES.includes(name) ? unsupported(`the filter ${name}`) : wrong(`no filter named '${name}'`); // prettier-ignore
  }
  const [names, required, call] = filter;
  if (typeof subject === "string") requireLength(subject.length);
  return call(subject, argumentsOf(`the filter ${name}`, names, required, given));
}

function same(names: readonly string[], filter: Filter): Record<string, Filter> {
  return Object.fromEntries(names.map((name) => [name, filter]));
}

/** Markup's own `soft_str`: a text of safe or escape would stay one. */
function soft(value: Value): string {
  if (value instanceof SafeText) throw unsupported("a filter of a text of safe or escape");
  return str(value);
}

function method(text: string, name: string, ...positional: Value[]): Value {
  return textMethod(text, name)?.call({ positional, named: new Map() }) ?? null;
}

function dictsort(value: Value, [sensitive = false, by = "key", reverse = false]: Args): Value {
  if (!(value instanceof Dict)) throw wrong(`'${typeName(value)}' has no items to sort`);
  if (by !== "key" && by !== "value") throw wrong('dictsort sorts by "key" or "value"');
  const keyed = Array.from(value.pairs(), (pair) => {
    const key = pair[by === "key" ? 0 : 1];
    return { pair: new Tuple(pair), key: isTrue(sensitive) ? key : folded(key) };
  });
  const sign = isTrue(reverse) ? -1 : 1;
  return keyed.sort((a, b) => sign * compare(a.key, b.key)).map(({ pair }) => pair);
}

const FLOAT = /^[-+]?(?:(?:\d(?:_?\d)*)?\.?(?:\d(?:_?\d)*)(?:e[-+]?\d(?:_?\d)*)?|\d(?:_?\d)*\.(?:e[-+]?\d(?:_?\d)*)?|inf(?:inity)?|nan)$/i; // prettier-ignore

function floatOf(value: Value): number | null {
  const number = numberOf(value);
  if (number !== null) return Number(number);
  if (value instanceof Undefined) return value.fail();
  if (typeof value !== "string") return null;
  const text = stripped(value, "both").replaceAll("_", "").toLowerCase();
  if (!FLOAT.test(stripped(value, "both"))) return digitsBeyondAscii(value);
  if (/nan/.test(text)) return Number.NaN;
  if (/inf/.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return Number(text);
}

function digitsBeyondAscii(text: string): null {
  if (/[^\0-\x7f]/.test(text) && /\p{Nd}/u.test(text)) throw unsupported("a number beyond ASCII");
  return null;
}

function integer(value: Value, [absent = 0n, base = 10n]: Args): Value {
  if (value instanceof Undefined) return value.fail();
  if (typeof value === "bigint" || typeof value === "boolean") return BigInt(value);
  if (typeof value === "string") {
    if (base !== 10n) throw unsupported("the filter int with a base");
    const text = stripped(value, "both");
    if (/^[-+]?\d+(?:_\d+)*$/.test(text)) {
      const digits = BigInt(text.replace(/[-+_]/g, ""));
      return text.startsWith("-") ? -digits : digits;
    }
  }
  const float = floatOf(value);
  if (float === null || Number.isNaN(float)) return absent;
  if (Number.isFinite(float)) return BigInt(Math.trunc(float));
  if (typeof value === "string") return absent;
  throw wrong("cannot convert float infinity to integer");
}

function rounded(value: Value, [precision = 0n, way = "common"]: Args): Value {
  if (value instanceof Undefined) return value.fail();
  const number = numberOf(value);
  const decimals = integerOf(precision, "round");
  if (way !== "common" && way !== "ceil" && way !== "floor") throw wrong("round: method must be common, ceil or floor"); // prettier-ignore
  if (number === null) throw wrong(`type ${typeName(value)} has no round`);
  if (decimals < 0) throw unsupported("round with a negative precision");
  if (way === "common") {
    if (typeof number === "bigint") return number;
    return Number.isFinite(number) ? Number(fixed(number, decimals)) : number;
  }
  if (decimals > 15) throw unsupported("round with more than 15 decimals");
  const scale = BigInt(10 ** decimals);
  const scaled = arithmetic("*", number, scale) as bigint | number;
  if (!Number.isFinite(Number(scaled))) throw wrong("cannot round infinity");
  const whole = typeof scaled === "bigint" ? scaled : BigInt(way === "ceil" ? Math.ceil(scaled) : Math.floor(scaled)); // prettier-ignore
  return arithmetic("/", whole, scale);
}

function indented(value: Value, [width = 4n, first = false, blank = false]: Args): string {
  if (typeof value !== "string") throw value instanceof SafeText ? unsupported("indent of a text of safe or escape") : wrong(`indent of a ${typeName(value)}`); // prettier-ignore
  const columns = typeof width === "string" ? width : integerOf(width, "indent");
  requireLength(typeof columns === "string" ? columns.length : Math.max(0, columns));
  const indention = typeof columns === "string" ? columns : " ".repeat(Math.max(0, columns));
  const lines = splitLines(`${value}\n`);
  requireLength(value.length + lines.length * indention.length);
  const text = lines
    .map((line, i) => (i > 0 && (line !== "" || isTrue(blank)) ? indention + line : line))
    .join("\n");
  return isTrue(first) ? indention + text : text;
}

function splitWords(text: string): string[] {
  const spaces =
    // eslint-disable-next-line no-control-regex -- Python counts these as white space
    /([-\t\n\v\f\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000({[<]+)/;
  return text.split(spaces).filter((piece) => piece !== "");
}

function toJson(
  value: Value,
  [ascii = false, indent = null, separators = null, sorted = false]: Args,
): string {
  const marks = separators === null ? null : [...itemsOf(separators)].map((each) => textOf(each, "tojson")); // prettier-ignore
  if (marks !== null && marks.length !== 2) throw wrong("tojson needs two separators");
  const width =
    typeof indent === "string" || indent === null ? indent : integerOf(indent, "tojson");
  if (typeof width === "number") requireLength(Math.max(0, width));
  return json(value, {
    ascii: isTrue(ascii),
    indent: typeof width === "number" ? " ".repeat(Math.max(0, width)) : width,
    comma: marks?.[0] ?? (indent === null ? ", " : ","),
    colon: marks?.[1] ?? ": ",
    sorted: isTrue(sorted),
  });
}

function truncated(
  value: Value,
  [length = 255n, kill = false, end = "...", leeway = 5n]: Args,
): string {
  const text = textOf(value, "truncate");
  const [limit, ending] = [integerOf(length, "truncate"), textOf(end, "truncate")];
  const more = leeway === null ? 5 : integerOf(leeway, "truncate");
  const points = codePoints(text);
  const endLength = codePoints(ending).length;
  if (limit < endLength || more < 0) throw wrong("truncate: length below that of its end");
  if (points.length <= limit + more) return text;
  const cut = joined(points.slice(0, limit - endLength));
  if (isTrue(kill)) return cut + ending;
  const space = cut.lastIndexOf(" ");
  return (space < 0 ? cut : cut.slice(0, space)) + ending;
}
