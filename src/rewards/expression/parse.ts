import { ConfigError, type ErrorCode } from "../../base/errors.ts";

/** An expression as a tree. `at` is the column of the text that it came from, from 1. */
export type Node =
  | { kind: "number"; value: number; at: number }
  | { kind: "text"; value: string; at: number }
  | { kind: "name"; name: string; at: number }
  | { kind: "prefix"; sign: "-" | "not"; of: Node; at: number }
  | { kind: "infix"; sign: InfixSign; left: Node; right: Node; at: number }
  | { kind: "call"; name: string; given: readonly Node[]; at: number };

/** How strongly the signs between two operands bind; the weakest first. */
const BINDING = {
  or: 1,
  and: 2,
  "==": 4,
  "!=": 4,
  "<": 4,
  "<=": 4,
  ">": 4,
  ">=": 4,
  "+": 5,
  "-": 5,
  "*": 6,
  "/": 6,
  "^": 8,
} as const;

export type InfixSign = keyof typeof BINDING;

/** `not a == b` is `not (a == b)`; `-a ^ b` is `-(a ^ b)`, and `-a * b` is `(-a) * b`. */
const PREFIX_BINDING = { not: 3, "-": 7 } as const;

const COMPARISON = 4;

interface Token {
  kind: "number" | "text" | "name" | "sign" | "end";
  text: string;
  at: number;
}

/**
 * Reads an expression: a Pratt parser. A name may hold hyphens (`exact-match`), so a minus between names needs spaces.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE with the column.
 */
export function parseExpression(text: string): Node {
  const tokens = tokensOf(text);
  let next = 0;
  const peek = (): Token => tokens[next] ?? { kind: "end", text: "", at: text.length + 1 };
  const take = (): Token => {
    const token = peek();
    next += 1;
    return token;
  };
  const isNext = (sign: string): boolean => peek().kind !== "text" && peek().text === sign;
  const expectNext = (sign: string): void => {
    if (!isNext(sign)) throw misplaced(text, peek(), `"${sign}"`);
    take();
  };

  function operand(): Node {
    const token = take();
    const { at } = token;
    if (token.kind === "number") return { kind: "number", value: Number(token.text), at };
    if (token.kind === "text") return { kind: "text", value: token.text, at };
    if (token.text === "-" || token.text === "not") {
      const of = expression(PREFIX_BINDING[token.text]);
      return { kind: "prefix", sign: token.text, of, at };
    }
    if (token.text === "(") {
      const inner = expression(0);
      expectNext(")");
      return inner;
    }
    if (token.kind !== "name" || isInfix(token.text)) {
      throw misplaced(text, token, "a number, a name or an opening bracket");
    }
    if (!isNext("(")) return { kind: "name", name: token.text, at };
    take();
    const given: Node[] = [];
    while (!isNext(")")) {
      if (given.length > 0) expectNext(",");
      given.push(expression(0));
    }
    take();
    return { kind: "call", name: token.text, given, at };
  }

  function expression(binding: number): Node {
    let left = operand();
    for (;;) {
      const { kind, text: sign, at } = peek();
      if (kind === "text" || !isInfix(sign)) return left;
      const own = BINDING[sign];
      if (own <= binding) return left;
      take();
      // `2 ^ 3 ^ 2` is `2 ^ (3 ^ 2)`; all others group from the left.
      const right = expression(sign === "^" ? own - 1 : own);
      left = { kind: "infix", sign, left, right, at };
      const after = peek();
      if (own === COMPARISON && isInfix(after.text) && BINDING[after.text] === COMPARISON) {
        throw problemAt(text, after.at, 'comparisons cannot follow each other; join them by "and"');
      }
    }
  }

  const whole = expression(0);
  if (peek().kind !== "end") throw misplaced(text, peek(), "the end or an operator");
  return whole;
}

function isInfix(text: string): text is InfixSign {
  return Object.hasOwn(BINDING, text);
}

const TOKEN =
  /(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z_]\w*(?:-\w+)*)|"(?<text>[^"]*)"|(?<sign>[=!<>]=|[-+*/^<>(),])/y;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    const space = /\s+/y;
    space.lastIndex = at;
    const skipped = space.exec(text)?.[0].length ?? 0;
    at += skipped;
    if (at >= text.length) break;
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match?.groups === undefined) {
      throw problemAt(text, at + 1, `${JSON.stringify(text[at])} has no meaning here`);
    }
    const [kind = "sign", found = ""] =
      Object.entries(match.groups).find(
        ([, value]) => (value as string | undefined) !== undefined,
      ) ?? [];
    tokens.push({ kind: kind as Token["kind"], text: found, at: at + 1 });
    at += match[0].length;
  }
  return tokens;
}

function misplaced(text: string, { kind, text: found, at }: Token, expected: string): ConfigError {
  const what = kind === "end" ? "the expression ends" : `found ${JSON.stringify(found)}`;
  return problemAt(text, at, `${what}; expected ${expected}`);
}

/** A problem with an expression, as the sentence after the key that holds it. */
export function problemAt(
  text: string,
  at: number,
  problem: string,
  code: ErrorCode = "RECIPE_BAD_VALUE",
): ConfigError {
  return new ConfigError(code, `is ${JSON.stringify(text)}, column ${at}: ${problem}.`);
}
