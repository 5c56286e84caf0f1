import { NONE, parseArguments as argumentsBy, parseItems } from "./call-arguments.ts";
import type { Arguments, Expression, Piped } from "./nodes.ts";
import type { TokenStream } from "./token-stream.ts";
import { wrong } from "./values.ts";

const CONSTANTS = new Map<unknown, boolean | null>([
  ...[["true", true], ["True", true], ["false", false]] as const, // prettier-ignore
  ...[["False", false], ["none", null], ["None", null]] as const, // prettier-ignore
]);

type TupleEnd = { conditional?: boolean; parenthesized?: boolean; before?: string };

/** Parses one expression, or several with commas between them as a tuple. Precedence is jinja2's: `~` binds closer than `+`. */
export function parseTuple(stream: TokenStream, end: TupleEnd = {}): Expression {
  const { line } = stream.current;
  const items: Expression[] = [];
  let tuple = false;
  for (;;) {
    const { kind } = stream.current;
    if (kind === "end" || kind === "endPrint" || stream.isOperator(")")) break;
    if (end.before !== undefined && stream.isName(end.before)) break;
    items.push(end.conditional === false ? parseOr(stream) : parseExpression(stream));
    if (!stream.skipOperator(",")) break;
    tuple = true;
  }
  const [only] = items;
  if (!tuple && only !== undefined) return only;
  if (!tuple && end.parenthesized !== true) stream.fail("an expression");
  return { kind: "tuple", items, line };
}

export function parseExpression(stream: TokenStream): Expression {
  let then = parseOr(stream);
  const { line } = then;
  while (stream.skipName("if")) {
    const test = parseOr(stream);
    const otherwise = stream.skipName("else") ? parseExpression(stream) : null;
    then = { kind: "conditional", test, then, otherwise, line };
  }
  return then;
}

function parseOr(stream: TokenStream): Expression {
  let left = parseAnd(stream);
  while (stream.skipName("or"))
    left = { kind: "or", left, right: parseAnd(stream), line: left.line };
  return left;
}

function parseAnd(stream: TokenStream): Expression {
  let left = parseNot(stream);
  while (stream.skipName("and"))
    left = { kind: "and", left, right: parseNot(stream), line: left.line };
  return left;
}

function parseNot(stream: TokenStream): Expression {
  const { line } = stream.current;
  if (stream.skipName("not")) return { kind: "not", of: parseNot(stream), line };
  return parseCompare(stream);
}

function parseCompare(stream: TokenStream): Expression {
  const first = parseSum(stream);
  const rest: [string, Expression][] = [];
  for (;;) {
    if (stream.isOperator("==", "!=", "<", "<=", ">", ">=")) {
      rest.push([stream.next().value as string, parseSum(stream)]);
    } else if (stream.skipName("in")) rest.push(["in", parseSum(stream)]);
    else if (stream.isName("not") && stream.ahead(1).value === "in") {
      stream.next();
      stream.next();
      rest.push(["not in", parseSum(stream)]);
    } else break;
  }
  return rest.length === 0 ? first : { kind: "compare", first, rest, line: first.line };
}

type Parse = (stream: TokenStream) => Expression;

function leftToRight(operand: Parse, ...operators: string[]): Parse {
  return (stream) => {
    let left = operand(stream);
    while (stream.isOperator(...operators)) {
      const operator = stream.next().value as string;
      left = { kind: "arithmetic", operator, left, right: operand(stream), line: left.line };
    }
    return left;
  };
}

const parsePower = leftToRight((stream) => parseUnary(stream, true), "**");
const parseProduct = leftToRight(parsePower, "*", "/", "//", "%");
const parseSum = leftToRight(parseConcat, "+", "-");

function parseConcat(stream: TokenStream): Expression {
  const first = parseProduct(stream);
  const parts = [first];
  while (stream.skipOperator("~")) parts.push(parseProduct(stream));
  return parts.length === 1 ? first : { kind: "concat", parts, line: first.line };
}

function parseUnary(stream: TokenStream, filtered: boolean): Expression {
  const { line } = stream.current;
  const sign = stream.isOperator("-", "+") ? stream.next().value : null;
  const node: Expression =
    sign === null
      ? parsePrimary(stream)
      : { kind: sign === "-" ? "negative" : "positive", of: parseUnary(stream, false), line };
  const whole = parsePostfix(stream, node);
  return filtered ? parseFilters(stream, whole) : whole;
}

export function parsePrimary(stream: TokenStream): Expression {
  const { kind, value, line } = stream.current;
  if (kind === "name") {
    stream.next();
    const constant = CONSTANTS.get(value);
    if (constant !== undefined) return { kind: "constant", value: constant, line };
    return { kind: "name", name: value as string, line };
  }
  if (kind === "number") {
    stream.next();
    return { kind: "constant", value, line };
  }
  if (kind === "string") {
    let text = "";
    while (stream.current.kind === "string") text += stream.next().value as string;
    return { kind: "constant", value: text, line };
  }
  if (stream.skipOperator("(")) {
    const inner = parseTuple(stream, { parenthesized: true });
    stream.expectOperator(")");
    return inner;
  }
  if (stream.skipOperator("["))
    return { kind: "list", items: parseItems(stream, "]", parseExpression), line };
  if (stream.skipOperator("{")) {
    const pair = (): readonly [Expression, Expression] => {
      const key = parseExpression(stream);
      stream.expectOperator(":");
      return [key, parseExpression(stream)];
    };
    return { kind: "dict", pairs: parseItems(stream, "}", pair), line };
  }
  return stream.fail("an expression");
}

function parsePostfix(stream: TokenStream, start: Expression): Expression {
  let node = start;
  for (;;) {
    const { line } = stream.current;
    if (stream.skipOperator(".")) {
      const { kind, value } = stream.next();
      if (kind === "name") node = { kind: "attribute", of: node, name: value as string, line };
      else if (kind === "number" && typeof value === "bigint") {
        node = { kind: "item", of: node, key: { kind: "constant", value, line }, line };
      } else throw wrong(`"${value}" where a name or number was expected`, line);
    } else if (stream.skipOperator("[")) node = parseSubscript(stream, node);
    else if (stream.isOperator("(")) {
      node = { kind: "call", callee: node, given: parseArguments(stream), line };
    } else return node;
  }
}

function parseSubscript(stream: TokenStream, of: Expression): Expression {
  const { line } = of;
  const keys: Expression[] = [];
  while (!stream.isOperator("]")) {
    if (keys.length > 0) stream.expectOperator(",");
    const first = stream.isOperator(":") ? null : parseExpression(stream);
    if (!stream.isOperator(":") && first !== null) {
      keys.push(first);
      continue;
    }
    const bounds = [first];
    while (stream.skipOperator(":"))
      bounds.push(stream.isOperator(":", "]", ",") ? null : parseExpression(stream));
    if (bounds.length > 3 || keys.length > 0) stream.fail("]");
    stream.expectOperator("]");
    return { kind: "slice", of, bounds, line };
  }
  stream.next();
  const [key] = keys;
  if (keys.length === 1 && key !== undefined) return { kind: "item", of, key, line };
  return { kind: "item", of, key: { kind: "tuple", items: keys, line }, line };
}

function parseFilters(stream: TokenStream, start: Expression): Expression {
  let node = start;
  for (;;) {
    const { line } = stream.current;
    if (stream.isOperator("|")) {
      for (const piped of parsePiped(stream)) node = { kind: "filter", of: node, ...piped };
    } else if (stream.skipName("is")) node = parseTest(stream, node, line);
    else if (stream.isOperator("(")) {
      node = { kind: "call", callee: node, given: parseArguments(stream), line };
    } else return node;
  }
}

/** @param bare whether the first filter stands without a `|`. */
export function parsePiped(stream: TokenStream, bare = false): Piped[] {
  const filters: Piped[] = [];
  while ((bare && filters.length === 0) || stream.skipOperator("|")) {
    const { line } = stream.current;
    const name = parseDotted(stream);
    filters.push({ name, given: stream.isOperator("(") ? parseArguments(stream) : NONE, line });
  }
  return filters;
}

function parseDotted(stream: TokenStream): string {
  let name = stream.expectName();
  while (stream.skipOperator(".")) name += `.${stream.expectName()}`;
  return name;
}

function parseTest(stream: TokenStream, of: Expression, line: number): Expression {
  const negated = stream.skipName("not");
  const name = parseDotted(stream);
  let given = NONE;
  if (stream.isOperator("(")) given = parseArguments(stream);
  else {
    const { kind } = stream.current;
    const begins = kind === "name" || kind === "string" || kind === "number";
    if ((begins || stream.isOperator("[", "{")) && !stream.isName("else", "or", "and")) {
      if (stream.isName("is")) throw wrong("tests with is cannot be chained", line);
      given = { ...NONE, positional: [parsePostfix(stream, parsePrimary(stream))] };
    }
  }
  const test: Expression = { kind: "test", of, name, given, line };
  return negated ? { kind: "not", of: test, line } : test;
}

function parseArguments(stream: TokenStream): Arguments {
  return argumentsBy(stream, parseExpression);
}
