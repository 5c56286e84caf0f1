/** Translates LaTeX and plain mathematical text into the language of mathjs. */

/** A text is no mathematics, or more than is read. */
export class NotMath extends Error {}

/** Functions of one argument by the names of mathjs, and how LaTeX or plain text spell them. */
const FUNCTIONS = new Map<string, string>([
  ...["sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan", "exp"].map(same),
  ...["sinh", "cosh", "tanh", "abs", "floor", "sqrt"].map(same),
  ...[["arcsin", "asin"] as const, ["arccos", "acos"] as const, ["arctan", "atan"] as const],
  ...[["ln", "log"] as const, ["log", "log10"] as const, ["lg", "log10"] as const],
]);
/** Functions of arguments in brackets. */
const LISTED = new Set(["gcd", "lcm", "min", "max"]);
const OPERATORS = new Map(
  ["+", "-", "*", "/"].map(same).concat([
    ["\\cdot", "*"],
    ["\\times", "*"],
    ["\\ast", "*"],
    ["\\div", "/"],
  ]),
);
const CLOSING: Readonly<Record<string, string>> = {
  "(": ")",
  "[": "]",
  "{": "}",
  "|": "|",
  "\\lfloor": "\\rfloor",
  "\\lceil": "\\rceil",
};
const AROUND: Readonly<Record<string, string>> = {
  "|": "abs",
  "\\lfloor": "floor",
  "\\lceil": "ceil",
};
/** What begins the argument of a function without brackets, as in `\sin 2x`. */
const FACTOR =
  /^(?:[\d.]|[a-zA-Z]|\\(?:[tdc]?frac|sqrt|pi|[a-z]*(?:alpha|beta|theta|phi|gamma|omega)))/;
const SYMBOL =
  /^\\(?:alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega|infty|ell|emptyset|varnothing|mathbb\{[A-Z]\})$/;
const TOKEN = /\\mathbb\{[A-Z]\}|\\[a-zA-Z]+|\\.|\d+(?:\.\d*)?|\.\d+|[a-zA-Z]+|\S/gu;
/** Longer runs of letters are words; shorter ones are products, as xy. */
const LONGEST_PRODUCT = 3;
const MAX_DEPTH = 40;

/**
 * The expression in the language of mathjs, with every product written out and every function in brackets.
 *
 * @throws {NotMath} for a word, an unknown command, or brackets that do not match or nest deeper than 40.
 * @example toMathText("2\\sin^2 x") // "2 * (sin(x))^(2)"
 * @example toMathText("\\frac12xy") // "((1) / (2)) * x * y"
 */
export function toMathText(text: string): string {
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;
  let depth = 0;
  const take = (): string => tokens[at++] ?? fail();
  const expect = (token: string): void => {
    if (take() !== token) fail();
  };

  function sequence(stops: readonly string[]): string {
    if (++depth > MAX_DEPTH) fail();
    const out: string[] = [];
    let isAfterOperand = false;
    for (let next = tokens[at]; next !== undefined && !stops.includes(next); next = tokens[at]) {
      const operator = OPERATORS.get(next);
      if (operator !== undefined) at += 1;
      else if (isAfterOperand && isNumber(next) && isNumber(tokens[at - 1])) fail();
      else if (isAfterOperand) out.push("*");
      out.push(operator ?? withPostfix(atom()));
      isAfterOperand = operator === undefined;
    }
    depth -= 1;
    return isAfterOperand ? out.join(" ") : fail();
  }

  function atom(): string {
    const token = take();
    if (isNumber(token)) return number(token);
    const closing = CLOSING[token];
    if (closing !== undefined) {
      const inner = sequence([closing]);
      expect(closing);
      return `${AROUND[token] ?? ""}(${inner})`;
    }
    if (/^\\[tdc]?frac$/.test(token)) return `((${argument()}) / (${argument()}))`;
    if (/^\\[td]?binom$/.test(token)) return `combinations(${argument()}, ${argument()})`;
    if (token === "\\sqrt") return root();
    const name = token.replace(/^\\(?:operatorname)?/, "");
    const known = FUNCTIONS.get(name);
    if (known !== undefined) return call(known);
    if (LISTED.has(name)) return listed(name);
    if (SYMBOL.test(token) || name === "pi") return name.replace(/\W|mathbb/g, "");
    if (!/^[a-zA-Z]+$/.test(token) || token.length > LONGEST_PRODUCT) return fail();
    const [first = "", ...rest] = token;
    if (rest.length > 0) tokens[--at] = rest.join("");
    return first;
  }

  function number(token: string): string {
    if (tokens[at] === "_") return inBase(token);
    if (!/^\\[tdc]?frac$/.test(tokens[at] ?? "") || !/^\d+$/.test(token)) return token;
    const before = at;
    const fraction = atom();
    if (/^\(+\d+\)+ \/ \(+\d+\)+$/.test(fraction)) return `(${token} + ${fraction})`;
    at = before;
    return token;
  }

  /** 2516_8 is 1358. */
  function inBase(token: string): string {
    at += 1;
    const base = Number(argument());
    const isNumber =
      base >= 2 && base <= 10 && Array.from(token).every((digit) => Number(digit) < base);
    if (!isNumber) return fail();
    return Array.from(token)
      .reduce((sum, digit) => sum * BigInt(base) + BigInt(digit), 0n)
      .toString();
  }

  /** What \frac or \sqrt takes: braces, or one digit, letter or command. */
  function argument(): string {
    const token = tokens[at] ?? fail();
    if (/^\d\d+$|^[a-zA-Z]{2,}$/.test(token)) {
      tokens[at] = token.slice(1);
      return token.slice(0, 1);
    }
    return atom();
  }

  function root(): string {
    if (tokens[at] !== "[") return `sqrt(${atom()})`;
    at += 1;
    const degree = sequence(["]"]);
    expect("]");
    return `nthRoot(${atom()}, ${degree})`;
  }

  function call(name: string): string {
    let base = "";
    let power = "";
    for (let mark = tokens[at]; mark === "_" || mark === "^"; mark = tokens[at]) {
      at += 1;
      if (mark === "_") base = atom();
      else power = exponent();
    }
    const isInverse = /^\(+- 1\)+$/.test(power) && /^(?:sin|cos|tan)$/.test(name);
    const isBracketed = CLOSING[tokens[at] ?? ""] !== undefined || !FACTOR.test(tokens[at] ?? "");
    let inner = isBracketed ? atom() : withPostfix(atom());
    while (!isBracketed && isFactor(tokens[at])) inner += ` * ${withPostfix(atom())}`;
    const written = `${isInverse ? "a" : ""}${base === "" ? name : "log"}(${inner})`;
    const value = base === "" ? written : `(${written} / log(${base}))`;
    return power === "" || isInverse ? value : `(${value})^${power}`;
  }

  function listed(name: string): string {
    expect("(");
    const items = [sequence([",", ")"])];
    while (take() === ",") items.push(sequence([",", ")"]));
    return `${name}(${items.join(", ")})`;
  }

  function withPostfix(operand: string): string {
    let value = operand;
    for (;;) {
      const mark = tokens[at];
      if (mark === "^") {
        at += 1;
        value = isDegree() ? `(${value} * pi / 180)` : `(${value})^${exponent()}`;
      } else if (mark === "!") {
        at += 1;
        value = `(${value})!`;
      } else if (mark === "_" && /^[a-zA-Z]+$/.test(value)) {
        at += 1;
        value += `_${atom().replace(/\W/g, "")}`;
      } else return value;
    }
  }

  function isDegree(): boolean {
    const length =
      tokens[at] === "\\circ" ? 1 : tokens[at] === "{" && tokens[at + 1] === "\\circ" ? 3 : 0;
    at += length;
    return length > 0;
  }

  /** 2^3^2 is 2^(3^2). */
  function exponent(): string {
    const sign = tokens[at] === "-" ? (at++, "- ") : "";
    const base = atom();
    if (tokens[at] !== "^") return `(${sign}${base})`;
    at += 1;
    return `(${sign}(${base})^${exponent()})`;
  }

  const whole = sequence([]);
  return at === tokens.length ? whole : fail();
}

/** "1 1 1" repeats a number, and is no product. */
function isNumber(token: string | undefined): boolean {
  return /^[\d.]/.test(token ?? "");
}

function isFactor(token: string | undefined): boolean {
  if (token === undefined || FUNCTIONS.has(token.replace("\\", ""))) return token === "\\sqrt";
  return FACTOR.test(token);
}

function fail(): never {
  throw new NotMath();
}

function same(name: string): [string, string] {
  return [name, name];
}
