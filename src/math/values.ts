import { NotMath, toMathText } from "./latex.ts";
import { withoutStyle, withoutUnit, wordsOf } from "./style.ts";

/** Two sides and their sign. */
export interface MathRelation {
  kind: "relation";
  sign: "=" | "<" | "<=" | "!=";
  left: MathValue;
  right: MathValue;
  /** Whether the left side is a name, so that "x = 5" answers "5". */
  isAssignment: boolean;
}

/** Several values. */
export interface MathSequence {
  kind: "sequence";
  /** list: without brackets, such as "2, 3" or what ± gives; chain: the relations of "1 < x < 2". */
  brackets: "list" | "{}" | "()" | "[]" | "[)" | "(]" | "union" | "chain" | "matrix" | "row";
  items: MathValue[];
}

/** A text as mathematics: an expression in the language of mathjs, a relation, several values, or words. */
export type MathValue =
  | { kind: "expression"; text: string; isPercent: boolean }
  | MathRelation
  | MathSequence
  | { kind: "words"; text: string };

const MAX_DEPTH = 8;
const MAX_ITEMS = 32;
const NAME = /^[a-zA-Z](?:_\w|_\{\w+\})?(?:\([a-z]\))?$|^\([a-z](?:\s*,\s*[a-z])+\)$/;
const SIGN = /<=|>=|!=|[=<>]|\\(?:leqslant|geqslant|leq|geq|le|ge|lt|gt|neq|ne)(?![a-z])/y;

/**
 * Reads an answer; never throws for a text.
 * Units, degrees at the end and currencies are dropped, not compared. "a > b" becomes "b < a".
 *
 * @example readMath("5\\text{ cm}") // the expression "5"
 * @example readMath("[0,1)") // a sequence with brackets "[)" and two items
 */
export function readMath(text: string): MathValue {
  const clean = withoutStyle(text);
  const number = /^-?\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+)(?![\d,])/.exec(clean)?.[0] ?? "";
  return read(number.replace(/[, ]/g, "") + clean.slice(number.length), 0);
}

function read(given: string, depth: number): MathValue {
  const text = given.replace(/^\s*[a-zA-Z]\s*\\in(?![a-z])/, "").trim();
  const words: MathValue = { kind: "words", text: wordsOf(text) };
  if (depth > MAX_DEPTH) return words;
  const found = partsOf(text);
  if (found !== null) {
    const [brackets, parts] = found;
    if (parts.length > MAX_ITEMS) return words;
    const items = parts.filter((part) => part.trim() !== "").map((part) => read(part, depth + 1));
    return brackets === "union" ? union(items) : { kind: "sequence", brackets, items };
  }
  return relations(text, depth) ?? expression(text) ?? words;
}

/** The brackets and parts of several values; null for one. */
function partsOf(text: string): [MathSequence["brackets"], string[]] | null {
  const rows = /^\\begin\{([pbvBV]?matrix)\}(.*)\\end\{\1\}$/s.exec(text)?.[2];
  if (rows !== undefined) return ["matrix", rows.split("\\\\")];
  if (text.includes("&")) return ["row", text.split("&")];
  const joined = splitOutside(text, /\\cup(?![a-z])/y).parts;
  if (joined.length > 1) return ["union", joined];
  const listed = splitOutside(text, /[,;]/y).parts;
  if (listed.length > 1) return ["list", listed];
  const [, open, inner, close] = /^(\\\{|[([])(.*)(\\\}|[)\]])$/s.exec(text) ?? [];
  if (open !== undefined && inner !== undefined && close !== undefined) {
    const brackets = (open + close).replaceAll("\\", "");
    const { parts, isBalanced } = splitOutside(inner, /,/y);
    if (isBalanced && brackets === "{}") return [brackets, parts];
    if (isBalanced && parts.length > 1 && isInterval(brackets)) return [brackets, parts];
  }
  if (!/\\(?:pm|mp)(?![a-z])/.test(text)) return null;
  const signed = (plus: string, minus: string): string =>
    text.replace(/\\pm(?![a-z])/g, plus).replace(/\\mp(?![a-z])/g, minus);
  return ["list", [signed("+", "-"), signed("-", "+")]];
}

function isInterval(brackets: string): brackets is "()" | "[]" | "[)" | "(]" {
  return /^[([][)\]]$/.test(brackets);
}

/** A union of sets of elements is one set. */
function union(items: MathValue[]): MathSequence {
  const sets = items.flatMap((item) =>
    item.kind === "sequence" && item.brackets === "{}" ? [item.items] : [],
  );
  if (sets.length < items.length) return { kind: "sequence", brackets: "union", items };
  return { kind: "sequence", brackets: "{}", items: sets.flat() };
}

function relations(text: string, depth: number): MathValue | null {
  const { parts, separators } = splitOutside(text, SIGN);
  if (separators.length === 0 || separators.length > 2) return null;
  const sides = parts.map((side) => read(side, depth + 1));
  const items = separators.flatMap((written, i): MathRelation[] => {
    const [before, after] = sides.slice(i);
    if (before === undefined || after === undefined) return [];
    const isAssignment = NAME.test(parts[i]?.trim() ?? "");
    const [left, right] = /^(?:>|\\g)/.test(written) ? [after, before] : [before, after];
    return [{ kind: "relation", sign: signOf(written), left, right, isAssignment }];
  });
  return items.length === 1 ? (items[0] ?? null) : { kind: "sequence", brackets: "chain", items };
}

function signOf(written: string): MathRelation["sign"] {
  if (written === "=") return "=";
  if (/!|n/.test(written.replace("slant", ""))) return "!=";
  return /=|e/.test(written) ? "<=" : "<";
}

function expression(text: string): MathValue | null {
  const percent = /\s*\\?%$/.exec(text);
  try {
    const amount = toMathText(withoutUnit(text.slice(0, percent?.index)));
    return { kind: "expression", text: amount, isPercent: percent !== null };
  } catch (error) {
    if (error instanceof NotMath) return null;
    throw error;
  }
}

/** Parts between separators that stand outside of brackets, and whether all brackets match. */
function splitOutside(
  text: string,
  separator: RegExp,
): { parts: string[]; separators: string[]; isBalanced: boolean } {
  const [parts, separators]: [string[], string[]] = [[], []];
  let [depth, lowest, from] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    separator.lastIndex = i;
    const found = depth === 0 && i >= from ? separator.exec(text) : null;
    if (found !== null) {
      parts.push(text.slice(from, i));
      separators.push(found[0]);
      from = i + found[0].length;
    } else if ("([{".includes(text.charAt(i))) depth += 1;
    else if (")]}".includes(text.charAt(i))) lowest = Math.min(lowest, --depth);
  }
  return {
    parts: [...parts, text.slice(from)],
    separators,
    isBalanced: lowest === 0 && depth === 0,
  };
}
