import { parseExpression, parsePiped, parsePrimary, parseTuple } from "./expressions.ts";
import type { Block, Expression, Signature, Statement, Target } from "./nodes.ts";
import { TokenStream } from "./token-stream.ts";
import { tokensOf } from "./tokens.ts";
import { unsupported, wrong } from "./values.ts";

/** Parses a whole template. @throws {TemplateFault} wrong, as jinja2 would fail; unsupported */
export function parseTemplate(source: string): Block {
  const stream = new TokenStream(tokensOf(source));
  return parseBlock(stream, []);
}

function parseBlock(stream: TokenStream, ends: readonly string[]): Statement[] {
  const block: Statement[] = [];
  for (;;) {
    const { kind, value, line } = stream.current;
    if (kind === "eof") {
      if (ends.length > 0) throw wrong(`the template ends where {% ${ends.join(" or ")} %} was expected`, line); // prettier-ignore
      return block;
    }
    stream.next();
    if (kind === "data") block.push({ kind, text: value as string, line });
    else if (kind === "print") {
      block.push({ kind, value: parseTuple(stream), line });
      stream.expect("endPrint");
    } else {
      if (stream.isName(...ends)) return block;
      block.push(parseStatement(stream, line));
      stream.expect("end");
    }
  }
}

/** The body of a tag, from the end of its opening to the name of its own ending, which is skipped. */
function parseBody(stream: TokenStream, end: string): Statement[] {
  const body = parseBodyUntil(stream, end);
  stream.next();
  return body;
}

function parseBodyUntil(stream: TokenStream, ...ends: string[]): Statement[] {
  stream.skipOperator(":");
  stream.expect("end");
  return parseBlock(stream, ends);
}

function parseStatement(stream: TokenStream, line: number): Statement {
  const tag = stream.expectName();
  switch (tag) {
    case "if":
      return parseIf(stream, line);
    case "for":
      return parseFor(stream, line);
    case "set":
      return parseSet(stream, line);
    case "macro": {
      const name = stream.expectName();
      const signature = parseSignature(stream);
      return { kind: "macro", name, signature, body: parseBody(stream, "endmacro"), line };
    }
    case "call": {
      const signature = stream.isOperator("(") ? parseSignature(stream) : { names: [], defaults: [] }; // prettier-ignore
      const call = parseExpression(stream);
      if (call.kind !== "call") throw wrong("{% call %} without a call", line);
      return { kind: "callBlock", signature, call, body: parseBody(stream, "endcall"), line };
    }
    case "filter": {
      const filters = parsePiped(stream, true);
      return { kind: "filterBlock", filters, body: parseBody(stream, "endfilter"), line };
    }
    case "with": {
      const targets: [Target, Expression][] = [];
      while (stream.current.kind !== "end") {
        if (targets.length > 0) stream.expectOperator(",");
        const target = parseTarget(stream, false, "");
        stream.expectOperator("=");
        targets.push([target, parseExpression(stream)]);
      }
      return { kind: "with", targets, body: parseBody(stream, "endwith"), line };
    }
    case "generation":
      return { kind: tag, body: parseBody(stream, "endgeneration"), line };
    case "break":
    case "continue":
      return { kind: tag, line };
    case "print":
    case "block":
    case "extends":
    case "include":
    case "import":
    case "from":
    case "autoescape":
      throw unsupported(`{% ${tag} %}`, line);
    default:
      throw wrong(`unknown tag {% ${tag} %}`, line);
  }
}

function parseIf(stream: TokenStream, line: number): Statement {
  const tests: [Expression, Block][] = [];
  do {
    const test = parseTuple(stream, { conditional: false });
    tests.push([test, parseBodyUntil(stream, "elif", "else", "endif")]);
  } while (stream.skipName("elif"));
  const otherwise = stream.next().value === "else" ? parseBody(stream, "endif") : [];
  return { kind: "if", tests, otherwise, line };
}

function parseFor(stream: TokenStream, line: number): Statement {
  const target = parseTarget(stream, false, "in");
  if (!stream.skipName("in")) stream.fail("in");
  const iterable = parseTuple(stream, { conditional: false, before: "recursive" });
  const test = stream.skipName("if") ? parseExpression(stream) : null;
  const recursive = stream.skipName("recursive");
  const body = parseBodyUntil(stream, "endfor", "else");
  const otherwise = stream.next().value === "else" ? parseBody(stream, "endfor") : [];
  return { kind: "for", target, iterable, test, recursive, body, otherwise, line };
}

function parseSet(stream: TokenStream, line: number): Statement {
  const target = parseTarget(stream, true, "");
  if (stream.skipOperator("=")) return { kind: "set", target, value: parseTuple(stream), line };
  const filters = parsePiped(stream);
  return { kind: "setBlock", target, filters, body: parseBody(stream, "endset"), line };
}

/** Names to assign to, with commas between them. @param members whether `namespace.name` is one. */
function parseTarget(stream: TokenStream, members: boolean, before: string): Target {
  const items: Target[] = [];
  let tuple = false;
  for (;;) {
    const { line } = stream.current;
    if (stream.current.kind === "end" || stream.isOperator("=", ")")) break;
    if (stream.isName(before)) break;
    const node = parsePrimary(stream);
    if (members && node.kind === "name" && stream.skipOperator(".")) {
      items.push({ kind: "member", of: node.name, name: stream.expectName() });
    } else items.push(targetOf(node, line));
    if (!stream.skipOperator(",")) break;
    tuple = true;
  }
  const [only] = items;
  if (only === undefined) return stream.fail("a name");
  return tuple ? { kind: "tuple", items } : only;
}

function targetOf(node: Expression, line: number): Target {
  if (node.kind === "name") return node;
  if (node.kind !== "tuple") throw wrong(`nothing can be assigned to a ${node.kind}`, line);
  return { kind: "tuple", items: node.items.map((each) => targetOf(each, line)) };
}

function parseSignature(stream: TokenStream): Signature {
  const names: string[] = [];
  const defaults: Expression[] = [];
  stream.expectOperator("(");
  while (!stream.isOperator(")")) {
    if (names.length > 0) stream.expectOperator(",");
    const { line } = stream.current;
    names.push(stream.expectName());
    if (stream.skipOperator("=")) defaults.push(parseExpression(stream));
    else if (defaults.length > 0) throw wrong("non-default argument follows default argument", line); // prettier-ignore
  }
  stream.next();
  return { names, defaults };
}
