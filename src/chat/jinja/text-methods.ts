import { argumentsOf, integerOf, textOf } from "./parameters.ts";
import { codePoints, isSpace, joined, split, splitLines, stripped } from "./python-text.ts";
import { Callable, type Given, Tuple, type Value, isTrue, itemsOf, requireLength, spend, typeName, unsupported, wrong } from "./values.ts"; // prettier-ignore
import { str } from "./written.ts";

type Args = readonly (Value | undefined)[];
type Method = readonly [names: readonly string[], required: number, call: (text: string, args: Args) => Value]; // prettier-ignore

/** Methods of Python's `str`; null: known to Python, not supported here. */
const METHODS: Readonly<Record<string, Method | null>> = {
  capitalize: plain((text) => capitalized(text)),
  casefold: plain((text) => (/[^\0-\x7f]/.test(text) ? refuse("casefold beyond ASCII") : text.toLowerCase())), // prettier-ignore
  center: justified((missing, width) => Math.floor(missing / 2) + (missing & width & 1)),
  count: [["/sub", "/start", "/end"], 1, (text, args) => occurrences(within(text, args, "count"))],
  endswith: affix("endswith", (text, end) => text.endsWith(end)),
  find: found("find", (text, sub) => text.indexOf(sub)),
  index: found("index", (text, sub) => text.indexOf(sub)),
  isalnum: plain((text) => /^[\p{L}\p{N}]+$/u.test(text)),
  isalpha: plain((text) => /^\p{L}+$/u.test(text)),
  isascii: plain((text) => /^[\0-\x7f]*$/.test(text)),
  isdecimal: plain((text) => /^\p{Nd}+$/u.test(text)),
  isdigit: plain((text) => (/[^\0-\x7f\p{L}\p{Nd}]/u.test(text) ? refuse("isdigit beyond ASCII") : /^\p{Nd}+$/u.test(text))), // prettier-ignore
  islower: plain((text) => /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text)),
  isspace: plain((text) => text !== "" && Array.from(text).every(isSpace)),
  isupper: plain((text) => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text)),
  join: [["/items"], 1, (text, [items]) => joinedBy(text, items ?? null)],
  ljust: justified(() => 0),
  lower: plain((text) => text.toLowerCase()),
  lstrip: strip("start"),
  partition: [["/sep"], 1, (text, [sep]) => parted(text, nonEmpty(sep, "partition"), false)],
  removeprefix: [["/prefix"], 1, (text, [given]) => {
    const prefix = textOf(given ?? null, "removeprefix");
    return text.startsWith(prefix) ? text.slice(prefix.length) : text;
  }], // prettier-ignore
  removesuffix: [["/suffix"], 1, (text, [given]) => {
    const suffix = textOf(given ?? null, "removesuffix");
    return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
  }], // prettier-ignore
  replace: [["/old", "/new", "/count"], 2, (text, [old, by, count]) =>
    replaced(text, textOf(old ?? null, "replace"), textOf(by ?? null, "replace"), count === undefined ? -1 : integerOf(count, "replace"))], // prettier-ignore
  rfind: found("rfind", (text, sub) => text.lastIndexOf(sub)),
  rindex: found("rindex", (text, sub) => text.lastIndexOf(sub)),
  rjust: justified((missing) => missing),
  rpartition: [["/sep"], 1, (text, [sep]) => parted(text, nonEmpty(sep, "rpartition"), true)],
  rsplit: splitting(true),
  rstrip: strip("end"),
  split: splitting(false),
  splitlines: [["keepends"], 0, (text, [keep = false]) => splitLines(text, isTrue(keep))],
  startswith: affix("startswith", (text, start) => text.startsWith(start)),
  strip: strip("both"),
  title: plain((text) =>
    text.replace(/\p{Cased}+/gu, (word) => {
      const [first = ""] = word;
      return titleCase(first) + lowerAfter(first, word.slice(first.length));
    }),
  ),
  upper: plain((text) => text.toUpperCase()),
  zfill: [["/width"], 1, (text, [width]) => {
    const missing = integerOf(width ?? null, "zfill") - codePoints(text).length;
    if (missing <= 0) return text;
    requireLength(missing);
    const sign = /^[-+]/.exec(text)?.[0] ?? "";
    return sign + "0".repeat(missing) + text.slice(sign.length);
  }], // prettier-ignore
  encode: null,
  expandtabs: null,
  format_map: null,
  isidentifier: null,
  isnumeric: null, // prettier-ignore
  isprintable: null,
  istitle: null,
  maketrans: null,
  swapcase: null,
  translate: null,
};

/** A method of a text, ready to be called; undefined where Python has none of that name. */
export function textMethod(text: string, name: string): Callable | undefined {
  if (name === "format") return new Callable(name, (given) => formatted(text, given));
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (method === null) throw unsupported(`the method ${name} of texts`);
  if (method === undefined) return undefined;
  const [names, required, call] = method;
  return new Callable(name, (given) => {
    spend(text.length / 16);
    return call(text, argumentsOf(name, names, required, given));
  });
}

function refuse(what: string): never {
  throw unsupported(what);
}

function plain(call: (text: string) => Value): Method {
  return [[], 0, call];
}

function strip(side: "both" | "start" | "end"): Method {
  return [["/chars"], 0, (text, [chars = null]) => stripped(text, side, chars === null ? undefined : textOf(chars, "strip"))]; // prettier-ignore
}

function splitting(fromEnd: boolean): Method {
  return [["sep", "maxsplit"], 0, (text, [sep = null, most = -1n]) => {
    const mark = sep === null ? null : nonEmpty(sep, "split");
    return split(text, mark, integerOf(most, "split"), fromEnd);
  }]; // prettier-ignore
}

function nonEmpty(given: Value | undefined, callee: string): string {
  const text = textOf(given ?? null, callee);
  if (text === "") throw wrong("empty separator");
  return text;
}

function parted(text: string, sep: string, fromEnd: boolean): Tuple {
  const start = fromEnd ? text.lastIndexOf(sep) : text.indexOf(sep);
  if (start < 0) return new Tuple(fromEnd ? ["", "", text] : [text, "", ""]);
  return new Tuple([text.slice(0, start), sep, text.slice(start + sep.length)]);
}

/** The part of a text between two indices, what is looked for in it, and where it begins, in code points. */
function within(
  text: string,
  [sub, start = null, end = null]: Args,
  callee: string,
): [string, string, number] {
  const wanted = textOf(sub ?? null, callee);
  if (start === null && end === null) return [text, wanted, 0];
  const points = codePoints(text);
  const bound = (given: Value, absent: number): number => {
    const index = given === null ? absent : integerOf(given, callee);
    return Math.max(0, index < 0 ? index + points.length : index);
  };
  const first = bound(start, 0);
  // Beyond the end not even the empty text is found.
  if (first > points.length) return ["", `${wanted}\0`, 0];
  return [joined(points.slice(first, bound(end, points.length))), wanted, first];
}

function found(name: string, search: (text: string, sub: string) => number): Method {
  return [["/sub", "/start", "/end"], 1, (text, args) => {
    const [part, sub, offset] = within(text, args, name);
    const at = search(part, sub);
    if (at < 0 && name.endsWith("index")) throw wrong("substring not found");
    return BigInt(at < 0 ? -1 : codePoints(part.slice(0, at)).length + offset);
  }]; // prettier-ignore
}

function affix(name: string, has: (text: string, affix: string) => boolean): Method {
  return [["/affix", "/start", "/end"], 1, (text, [affixes = null, ...bounds]) => {
    if (bounds.some((bound) => bound !== undefined)) throw unsupported(`${name} with a start`);
    if (!(affixes instanceof Tuple)) return has(text, textOf(affixes, name));
    return affixes.items.some((each) => has(text, textOf(each, name)));
  }]; // prettier-ignore
}

function occurrences([text, sub]: readonly [string, string, number]): bigint {
  return BigInt(sub === "" ? codePoints(text).length + 1 : text.split(sub).length - 1);
}

function justified(before: (missing: number, width: number) => number): Method {
  return [["/width", "/fill"], 1, (text, [width = null, fill = " "]) => {
    const letter = textOf(fill, "justify");
    if (codePoints(letter).length !== 1) throw wrong("the fill character must be one character");
    const columns = integerOf(width, "justify");
    const missing = columns - codePoints(text).length;
    if (missing <= 0) return text;
    requireLength(columns);
    const left = before(missing, columns);
    return letter.repeat(left) + text + letter.repeat(missing - left);
  }]; // prettier-ignore
}

/** `separator.join(items)`: texts alone, unlike the filter. */
function joinedBy(separator: string, items: Value): string {
  const texts = Array.from(itemsOf(items), (item, i) => {
    if (typeof item !== "string") throw wrong(`sequence item ${i}: expected str instance, ${typeName(item)} found`); // prettier-ignore
    return item;
  });
  return joinTexts(separator, texts);
}

export function joinTexts(separator: string, texts: readonly string[]): string {
  const length = texts.reduce((sum, { length: more }) => sum + more + separator.length, 0);
  requireLength(length);
  return texts.join(separator);
}

/** `str.replace`. @param most replacements at most; negative: all. */
export function replaced(text: string, old: string, by: string, most: number): string {
  if (most === 0) return text;
  const pieces = old === "" ? ["", ...Array.from(text), ""] : text.split(old);
  const last = most < 0 ? pieces.length - 1 : Math.min(most, pieces.length - 1);
  requireLength(text.length + last * by.length);
  return pieces.slice(0, last + 1).join(by) + pieces.slice(last + 1).map((piece) => old + piece).join(""); // prettier-ignore
}

/** Letters whose title case is another than their upper case, or several letters. */
const ODD_TITLE = /[\u01c4-\u01cc\u01f1-\u01f3\u10d0-\u10ff\u1f80-\u1faf]/;

function titleCase(letter: string): string {
  const upper = letter.toUpperCase();
  if (upper.length !== letter.length || ODD_TITLE.test(letter)) throw unsupported(`the title case of ${letter}`); // prettier-ignore
  return upper;
}

export function capitalized(text: string): string {
  const [first = ""] = text;
  return titleCase(first) + lowerAfter(first, text.slice(first.length));
}

/** Greek's final sigma looks at the letter before. */
function lowerAfter(before: string, rest: string): string {
  return (before + rest).toLowerCase().slice(before.toLowerCase().length);
}

/** `str.format` with fields of a place or a name alone, without conversions. */
function formatted(text: string, { positional, named }: Given): string {
  let used = 0;
  const pieces = text.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (whole, field?: string) => {
    if (whole === "{{" || whole === "}}") return whole.slice(1);
    if (field === undefined) throw wrong(`single ${whole} in a format`);
    if (!/^\w*$/.test(field)) throw unsupported(`${whole} in a format`);
    const place = field === "" ? used++ : /^\d+$/.test(field) ? Number(field) : null;
    if (place !== null && used > 0 && field !== "") throw wrong("numbered and unnumbered fields in one format"); // prettier-ignore
    const value = place === null ? named.get(field) : positional[place];
    if (value === undefined) throw wrong(`the format has no value for ${whole}`);
    return str(value);
  });
  requireLength(pieces.length);
  return pieces;
}
