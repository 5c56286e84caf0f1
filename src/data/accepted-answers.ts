/** Accepted answers as files have them: texts, numbers, booleans, lists of them, and such lists within a text. */
import { parseExact, WrittenNumber } from "../base/exact-json.ts";
import { quote } from "../base/schema.ts";

/** The separator that says: every text is one answer. */
const WHOLE_TEXTS = "none";

/** An answer as text: a number as its file has it, true and false as yes and no; null: no answer. */
export function answerText(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value instanceof WrittenNumber) return value.text;
  return typeof value === "number" && Number.isFinite(value) ? String(value) : null;
}

export interface Accepted {
  /** Some may be blank. */
  answers: string[];
  /** Whether a text was a list of bare numbers, which may also be an interval or a vector. */
  hasNumberList: boolean;
}

/**
 * The accepted answers in the texts of a record. A text that is a list, as JSON, Python or NumPy print it, is read as that list.
 *
 * @param separator of answers within a text, with \\n and \\t for a line break and a tab; "none": every text is one answer.
 * @returns the problem of a text that is neither an answer nor such a list.
 * @example acceptedAnswers(["['Ada', \"Bob O'Neil\"]"]) // answers: ["Ada", "Bob O'Neil"]
 * @example acceptedAnswers(["Ada | Bob"], "|")          // answers: ["Ada", "Bob"]
 */
export function acceptedAnswers(
  texts: readonly string[],
  separator?: string,
): Accepted | { problem: string } {
  const found: Accepted = { answers: [], hasNumberList: false };
  for (const text of texts) {
    const list = separator === WHOLE_TEXTS ? null : listWithin(text.trim());
    if (typeof list === "string") return { problem: `${quote(text)} ${list}` };
    found.hasNumberList ||= list?.every((item) => typeof item !== "string") ?? false;
    for (const item of list ?? [text]) {
      const answer = answerText(item);
      if (answer === null)
        return { problem: `${quote(text)} is a list within a text, and contains ${quote(item)}` };
      found.answers.push(...split(answer, separator));
    }
  }
  return found;
}

function split(text: string, separator: string | undefined): string[] {
  if (separator === undefined || separator === WHOLE_TEXTS) return [text];
  const parts = text.split(separator.replaceAll("\\n", "\n").replaceAll("\\t", "\t"));
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** The items of a text that is a list; null: it is none; a text: its problem. */
function listWithin(text: string): unknown[] | string | null {
  if (/^\{\s*['"].*\}$/s.test(text)) return "is an object within a text, not an answer";
  const [, inner] = /^array\((\[.*\])(?:,\s*dtype=\w+)?\)$/s.exec(text) ?? [];
  const list = inner ?? text;
  const isTuple = list.startsWith("(");
  if (!isTuple && !(list.startsWith("[") && list.endsWith("]"))) return null;
  const items = isTuple ? pythonItems(list, ")") : (jsonItems(list) ?? pythonItems(list, "]"));
  if (items !== null) return items;
  return /^\[\s*['"]/.test(list)
    ? "begins like a list within a text, but is not a complete one"
    : null;
}

function jsonItems(text: string): unknown[] | null {
  try {
    return parseExact(text) as unknown[];
  } catch {
    return null;
  }
}

/** A quoted text, or a number or name; then a comma, or the blank that NumPy puts between texts. */
const ITEM =
  /\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(-?\d[\d.]*(?:e[+-]?\d+)?|True|False|None))\s*(,|(?<=['"]\s+)(?=['"])|(?=[\])]$))/sy;

/** The items of a list or tuple as Python prints it; of a tuple only if it has a comma, because others may be a remark in brackets. */
function pythonItems(text: string, close: string): unknown[] | null {
  const items: unknown[] = [];
  let commas = 0;
  ITEM.lastIndex = 1;
  for (let at = 1; text.slice(at).trim() !== close; at = ITEM.lastIndex) {
    const [whole, single, double, bare = "", end] = ITEM.exec(text) ?? [];
    if (whole === undefined) return null;
    const quoted = single ?? double;
    items.push(quoted === undefined ? bareItem(bare) : unescaped(quoted));
    if (end === ",") commas += 1;
  }
  return close === ")" && commas === 0 ? null : items;
}

function bareItem(text: string): unknown {
  if (text === "None") return null;
  if (text === "True" || text === "False") return text === "True";
  return new WrittenNumber(text);
}

const NAMED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

function unescaped(text: string): string {
  return text.replaceAll(
    /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|(.))/gis,
    (_, x?: string, u?: string, long?: string, other: string = "") => {
      const code = x ?? u ?? long;
      return code === undefined
        ? (NAMED[other] ?? other)
        : String.fromCodePoint(parseInt(code, 16));
    },
  );
}
