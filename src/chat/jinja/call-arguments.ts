import type { Arguments, Expression } from "./nodes.ts";
import type { TokenStream } from "./token-stream.ts";
import { wrong } from "./values.ts";

/** Of what is called without parentheses. */
export const NONE: Arguments = { positional: [], named: [], list: null, dict: null };

/** The arguments of a call, with their parentheses. @param parseExpression one of them. */
export function parseArguments(
  stream: TokenStream,
  parseExpression: (from: TokenStream) => Expression,
): Arguments {
  const positional: Expression[] = [];
  const named: [string, Expression][] = [];
  let list: Expression | null = null;
  let dict: Expression | null = null;
  stream.expectOperator("(");
  const one = (): void => {
    const { kind, line } = stream.current;
    const ensure = (fine: boolean): void => {
      if (!fine) throw wrong("invalid syntax for function call expression", line);
    };
    if (stream.skipOperator("*")) {
      ensure(list === null && dict === null);
      list = parseExpression(stream);
    } else if (stream.skipOperator("**")) {
      ensure(dict === null);
      dict = parseExpression(stream);
    } else if (
      kind === "name" &&
      stream.ahead(1).kind === "operator" &&
      stream.ahead(1).value === "="
    ) {
      ensure(dict === null);
      const name = stream.expectName();
      stream.next();
      named.push([name, parseExpression(stream)]);
    } else {
      ensure(list === null && dict === null && named.length === 0);
      positional.push(parseExpression(stream));
    }
  };
  parseItems(stream, ")", one);
  return { positional, named, list, dict };
}

/** Items with commas between them, and perhaps after the last, through the closing bracket. */
export function parseItems<T>(
  stream: TokenStream,
  closing: string,
  item: (from: TokenStream) => T,
): T[] {
  const items: T[] = [];
  while (!stream.isOperator(closing)) {
    if (items.length > 0) stream.expectOperator(",");
    if (stream.isOperator(closing)) break;
    items.push(item(stream));
  }
  stream.next();
  return items;
}
