import { parse } from "lossless-json";

/** A number of a data file whose text a JavaScript number does not keep: 9007199254740993, 3.10, 1e400. */
export class WrittenNumber {
  /** As the file has it, or as the program that wrote a binary file prints it. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): string {
    return this.text;
  }
}

/** A number as JavaScript's, if it keeps the text. */
export function numberOf(text: string): number | WrittenNumber {
  const value = Number(text);
  return String(value) === text ? value : new WrittenNumber(text);
}

/** The nearest JavaScript number, for fields that count or measure. */
export function plainNumber(value: unknown): unknown {
  return value instanceof WrittenNumber ? Number(value.text) : value;
}

/** A number as an id: a whole one without sign of zero, point or exponent (1.0 → 1), any other as it is written; null: no number. */
export function numberId(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  if (!(value instanceof WrittenNumber)) return null;
  const nearest = Number(value.text);
  return Number.isSafeInteger(nearest) ? String(nearest) : value.text;
}

/**
 * `JSON.parse` for data of other programs: a number that JavaScript would change becomes a `WrittenNumber`.
 * @throws {SyntaxError} also for a key twice with different values, half of a surrogate pair, and nesting beyond the stack.
 */
export function parseExact(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    const needsCare = scan(text) !== keysIn(value);
    const exact = needsCare
      ? parse(text, undefined, { parseNumber: numberOf, onDuplicateKey })
      : value;
    if (text.includes("\\u") && SURROGATE.test(text)) refuseHalves(exact);
    return exact;
  } catch (error) {
    if (error instanceof RangeError)
      throw new SyntaxError("its values are nested too deeply", { cause: error });
    if (NOT_A_NUMBER.test(text) && error instanceof SyntaxError)
      throw new SyntaxError(`${error.message}; NaN and Infinity are not JSON: write null`, {
        cause: error,
      });
    throw error;
  }
}

const NOT_A_NUMBER = /[:,[]\s*-?(?:NaN|Infinity)\b/;

/** An escaped half of a surrogate pair: two together are one character. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

function onDuplicateKey({ key }: { key: string }): never {
  throw new SyntaxError(
    `the key ${JSON.stringify(key)} occurs twice in one object, with different values`,
  );
}

const [BACKSLASH, COLON] = [0x5c, 0x3a];

/** Keys of all objects of a valid JSON text, counted as often as they occur; -1: it has a number that JavaScript would change. */
function scan(text: string): number {
  let keys = 0;
  for (let at = 0; ;) {
    const open = text.indexOf('"', at);
    if (hasOddNumber(text, at, open === -1 ? text.length : open)) return -1;
    if (open === -1) return keys;
    at = endOfText(text, open) + 1;
    while (text.charCodeAt(at) <= 0x20) at += 1;
    if (text.charCodeAt(at) === COLON) keys += 1;
  }
}

function endOfText(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); ; close = text.indexOf('"', close + 1)) {
    let before = close;
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((close - before) % 2 === 0) return close;
  }
}

function hasOddNumber(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    if (!isOfNumber(text.charCodeAt(at))) continue;
    const start = at;
    let isWhole = true;
    for (let code = text.charCodeAt(at); at < to && isOfNumber(code); code = text.charCodeAt(at)) {
      isWhole &&= code >= 0x30 && code <= 0x39;
      at += 1;
    }
    if (isWhole && at - start < SAFE_DIGITS) continue;
    const number = text.slice(start, at);
    if (number !== "e" && String(Number(number)) !== number) return true;
  }
  return false;
}

const SAFE_DIGITS = 16;

function isOfNumber(code: number): boolean {
  return (
    (code >= 0x2b && code <= 0x39 && code !== 0x2c && code !== 0x2f) ||
    code === 0x65 ||
    code === 0x45
  );
}

function keysIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) for (const item of value) keys += keysIn(item);
  else for (const key in value) keys += 1 + keysIn((value as Record<string, unknown>)[key]);
  return keys;
}

function refuseHalves(value: unknown): void {
  if (typeof value === "string" && /\p{Surrogate}/u.test(value))
    throw new SyntaxError(
      `${JSON.stringify(value)} contains half of a character (a lone surrogate)`,
    );
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    refuseHalves(key);
    refuseHalves(item);
  }
}
