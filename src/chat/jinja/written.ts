import { Dict, Members, Range, SafeText, Tuple, Undefined, type Value, View, requireLength, spend, typeName, unsupported, wrong } from "./values.ts"; // prettier-ignore

/** `str(value)`: what a template prints. */
export function str(value: Value): string {
  if (typeof value === "string") return value;
  if (value instanceof Undefined) return "";
  if (value instanceof SafeText) return value.text;
  return repr(value);
}

/** `repr(value)`: what stands inside of lists and dicts. */
export function repr(value: Value): string {
  spend();
  if (value === null) return "None";
  if (typeof value === "string") return reprOfText(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return reprOfFloat(value);
  if (Array.isArray(value)) return `[${list(value.map(repr))}]`;
  if (value instanceof Tuple) {
    return value.items.length === 1 ? `(${list(value.items.map(repr))},)` : `(${list(value.items.map(repr))})`; // prettier-ignore
  }
  if (value instanceof Dict)
    return `{${list(Array.from(value.pairs(), ([key, item]) => `${repr(key)}: ${repr(item)}`))}}`;
  if (value instanceof View) return `dict_${value.kind}([${list(Array.from(value, repr))}])`;
  if (value instanceof Range) return value.shown;
  if (value instanceof Undefined) return "Undefined";
  if (value instanceof Members && value.kind === "LoopContext") throw unsupported("printing loop");
  throw unsupported(`printing a ${typeName(value)}, whose text in Python has an address in memory`);
}

function list(items: readonly string[]): string {
  const text = items.join(", ");
  requireLength(text.length);
  return text;
}

/** Python writes an exponent from 1e16 on and below 1e-4, JavaScript from 1e21 on and below 1e-6. */
function reprOfFloat(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (Object.is(value, -0)) return "-0.0";
  if (value === 0) return "0.0";
  const [digits = "", power = ""] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 16) {
    const text = exponent < 0 ? value.toFixed(digits.replace(/[-.]/g, "").length - 1 - exponent) : String(value); // prettier-ignore
    return text.includes(".") ? text : `${text}.0`;
  }
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

const SHORT: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\\": "\\\\",
};

function reprOfText(text: string): string {
  requireLength(text.length);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Zs}\\']/gu, (letter) => {
    if (letter === " " || (letter === "'" && quote === '"')) return letter;
    if (letter === "'") return "\\'";
    const short = SHORT[letter];
    if (short !== undefined) return short;
    const code = letter.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
    if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
    return `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return `${quote}${body}${quote}`;
}

export interface JsonLayout {
  ascii: boolean;
  indent: string | null;
  comma: string;
  colon: string;
  sorted: boolean;
}

/** `json.dumps`. @throws {TemplateFault} for values that JSON has not. */
export function json(value: Value, layout: JsonLayout, depth = 0): string {
  spend();
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return jsonText(value, layout.ascii);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") {
    if (Number.isNaN(value)) return "NaN";
    return Number.isFinite(value) ? reprOfFloat(value) : value < 0 ? "-Infinity" : "Infinity";
  }
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : null;
  if (items !== null) {
    return between("[", items.map((item) => json(item, layout, depth + 1)), "]", layout, depth); // prettier-ignore
  }
  if (!(value instanceof Dict))
    throw wrong(`object of type ${typeName(value)} is not JSON serializable`);
  const pairs = [...value.pairs()];
  if (layout.sorted) {
    if (pairs.some(([key]) => typeof key !== "string")) throw unsupported("tojson(sort_keys) of keys that are no texts"); // prettier-ignore
    pairs.sort(([a], [b]) => compareTexts(a as string, b as string));
  }
  const texts = pairs.map(([key, item]) => `${jsonText(jsonKey(key), layout.ascii)}${layout.colon}${json(item, layout, depth + 1)}`); // prettier-ignore
  return between("{", texts, "}", layout, depth);
}

function between(
  open: string,
  items: readonly string[],
  close: string,
  layout: JsonLayout,
  depth: number,
): string {
  if (items.length === 0) return open + close;
  const { indent, comma } = layout;
  const line = (level: number): string => {
    if (indent === null) return "";
    requireLength(indent.length * level);
    return `\n${indent.repeat(level)}`;
  };
  const text = `${open}${line(depth + 1)}${items.join(`${comma}${line(depth + 1)}`)}${line(depth)}${close}`;
  requireLength(text.length);
  return text;
}

function jsonKey(key: Value): string {
  if (typeof key === "string") return key;
  if (key === null || typeof key === "boolean") return String(key);
  if (typeof key === "bigint") return String(key);
  if (typeof key === "number" && Number.isFinite(key)) return reprOfFloat(key);
  throw wrong(`JSON has no keys of type ${typeName(key)}`);
}

function jsonText(text: string, ascii: boolean): string {
  requireLength(text.length);
  const escaped = JSON.stringify(text);
  if (ascii) {
    return escaped.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`); // prettier-ignore
  }
  // JavaScript escapes it, Python does not.
  if (/\p{Cs}/u.test(text)) throw unsupported("half of a surrogate pair in tojson");
  return escaped;
}

/** Order of code points, which is not that of UTF-16 beyond U+FFFF. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  spend(length / 16);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const [high, low] = [x >= 0xd800 && x < 0xe000, y >= 0xd800 && y < 0xe000];
    return high === low ? x - y : high ? 1 : -1;
  }
  return a.length - b.length;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;" }; // prettier-ignore

/** `markupsafe.escape`. */
export function escaped(text: string): SafeText {
  return new SafeText(text.replace(/[&<>'"]/g, (letter) => ENTITIES[letter] ?? letter));
}
