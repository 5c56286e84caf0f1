import { isSpace, stripped } from "./python-text.ts";
import { unsupported, wrong } from "./values.ts";

/** A piece of a template. Text, the marks of tags, and what stands inside of tags. */
export interface Token {
  readonly kind: "data" | "begin" | "end" | "print" | "endPrint" | "name" | "string" | "number" | "operator" | "eof"; // prettier-ignore
  /** The text; of a number, its Python value. */
  readonly value: string | bigint | number;
  readonly line: number;
}

const OPENING = /\{\{|\{%|\{#/g;
const RAW = /\{%([-+]?)\s*raw\s*(-?)%\}/y;
const END_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
const NUMBER =
  /(?<!\.)(?:(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+))|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*/y;
const NAME = /[\p{XID_Start}_][\p{XID_Continue}]*/uy;
const STRING = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}<>=.:|,;]/y;
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Splits a template as jinja2's lexer does with trim_blocks and lstrip_blocks. @throws {TemplateFault} */
export function tokensOf(template: string): Token[] {
  const source = template.replace(/\r\n|\r/g, "\n").replace(/\n$/, "");
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  /** Whether the text before `at` ended a line: blanks before a block may then go. */
  let lineStarts = true;
  const push = (kind: Token["kind"], value: Token["value"]): void => {
    tokens.push({ kind, value, line });
  };
  const moveTo = (end: number): void => {
    line += source.slice(at, end).split("\n").length - 1;
    lineStarts = source[end - 1] === "\n";
    at = end;
  };
  const pushData = (end: number, sign: string, block: boolean): void => {
    const text = source.slice(at, end);
    const kept = keptBefore(text, sign, block, lineStarts);
    if (kept !== "") push("data", kept);
    moveTo(end);
  };
  const close = (length: number, sign: string, block: boolean): void => {
    let end = at + length;
    if (sign === "-") while (isSpace(source[end])) end += 1;
    else if (block && sign !== "+" && source[end] === "\n") end += 1;
    moveTo(end);
  };

  while (at < source.length) {
    const found = matchAt(OPENING, source, at);
    if (found === null) {
      push("data", source.slice(at));
      break;
    }
    const mark = found[0];
    const raw = matchAt(RAW, source, found.index);
    if (raw !== null) {
      pushData(found.index, raw[1] ?? "", true);
      close(raw[0].length, raw[2] ?? "", false);
      const rest = matchAt(END_RAW, source, at);
      if (rest === null) throw wrong("missing end of raw directive", line);
      pushData(rest.index, rest[1] ?? "", true);
      close(rest[0].length, rest[2] ?? "", true);
      continue;
    }
    const sign = /[-+]/.exec(source[found.index + 2] ?? "")?.[0] ?? "";
    pushData(found.index, sign, mark !== "{{");
    if (mark === "{#") {
      const end = source.indexOf("#}", at + 2 + sign.length);
      if (end < 0) throw wrong("missing end of comment tag", line);
      // The sign may be the comment's only character, as in {#-#}: it was taken as the opening's.
      const last = end > at + 2 + sign.length ? (source[end - 1] ?? "") : "";
      moveTo(end);
      close(2, /[-+]/.test(last) ? last : "", true);
      continue;
    }
    push(mark === "{%" ? "begin" : "print", mark);
    moveTo(found.index + 2 + sign.length);
    inside(mark === "{%");
  }
  push("eof", "");
  return tokens;

  function inside(block: boolean): void {
    const open: string[] = [];
    const ending = block ? /([-+]?)%\}/y : /(-?)\}\}/y;
    for (;;) {
      const end = open.length === 0 ? matchAt(ending, source, at) : null;
      if (end !== null) {
        push(block ? "end" : "endPrint", end[0]);
        close(end[0].length, end[1] ?? "", block);
        return;
      }
      if (at >= source.length) throw wrong("unexpected end of template", line);
      if (isSpace(source[at])) {
        moveTo(at + 1);
        continue;
      }
      const take = (pattern: RegExp): string | undefined => matchAt(pattern, source, at)?.[0];
      const number = take(NUMBER);
      const name = number === undefined ? take(NAME) : undefined;
      const string = take(STRING);
      const operator = take(OPERATOR);
      const text = number ?? name ?? string ?? operator;
      if (text === undefined) throw wrong(`unexpected character ${JSON.stringify(source[at])}`, line); // prettier-ignore
      if (number !== undefined) push("number", numberOf(number));
      else if (name !== undefined) push("name", name.normalize("NFKC") === name ? name : odd(name));
      else if (string !== undefined) push("string", unescaped(string.slice(1, -1), line));
      else {
        const closing = CLOSING[text];
        if (closing !== undefined) open.push(closing);
        else if (/[)\]}]/.test(text) && open.pop() !== text) throw wrong(`unexpected ${text}`, line); // prettier-ignore
        push("operator", text);
      }
      moveTo(at + text.length);
    }
  }

  function odd(name: string): never {
    throw unsupported(`the name ${name}`, line);
  }
}

/** @param pattern with the flag y or g. */
function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function keptBefore(text: string, sign: string, block: boolean, lineStarts: boolean): string {
  if (sign === "-") return stripped(text, "end");
  if (sign === "+" || !block) return text;
  const start = text.lastIndexOf("\n") + 1;
  const blank = stripped(text.slice(start), "both") === "";
  return blank && (start > 0 || lineStarts) ? text.slice(0, start) : text;
}

function numberOf(text: string): bigint | number {
  const plain = text.replaceAll("_", "");
  if (/^0[box]/i.test(plain)) return BigInt(plain);
  return /[.e]/i.test(plain) ? Number(plain) : BigInt(plain);
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  a: "\x07",
  "'": "'",
  '"': '"',
  "\\": "\\",
  "\n": "",
};

/** Python's escapes of a text; a backslash before any other letter stays. */
function unescaped(text: string, line: number): string {
  const escape = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g;
  return text.replace(
    escape,
    (whole, x?: string, u?: string, long?: string, octal?: string, letter = "") => {
      const hex = x ?? u ?? long;
      const code = hex === undefined ? null : Number.parseInt(hex, 16);
      if (code !== null && code > 0x10ffff) throw wrong(`bad escape ${whole}`, line);
      if (code !== null && code >= 0xd800 && code < 0xe000) throw unsupported(`the escape ${whole}`, line); // prettier-ignore
      if (code !== null) return String.fromCodePoint(code);
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      if (letter === "N") throw unsupported(`the escape \\N`, line);
      if (/[xuU]/.test(letter as string)) throw wrong(`bad escape ${whole}`, line);
      return ESCAPES[letter as string] ?? whole;
    },
  );
}
