import type { Token } from "./tokens.ts";
import { wrong } from "./values.ts";

/** Tokens with a place in them. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.ahead(0);
  }

  ahead(by: number): Token {
    const token = this.#tokens[Math.min(this.#at + by, this.#tokens.length - 1)];
    if (token === undefined) throw wrong("unexpected end of template");
    return token;
  }

  next(): Token {
    const token = this.current;
    this.#at += 1;
    return token;
  }

  isOperator(...operators: string[]): boolean {
    const { kind, value } = this.current;
    return kind === "operator" && operators.includes(value as string);
  }

  isName(...names: string[]): boolean {
    const { kind, value } = this.current;
    return kind === "name" && names.includes(value as string);
  }

  skipOperator(operator: string): boolean {
    const found = this.isOperator(operator);
    if (found) this.#at += 1;
    return found;
  }

  skipName(name: string): boolean {
    const found = this.isName(name);
    if (found) this.#at += 1;
    return found;
  }

  expectOperator(operator: string): Token {
    return this.isOperator(operator) ? this.next() : this.fail(operator);
  }

  expectName(): string {
    return this.current.kind === "name" ? (this.next().value as string) : this.fail("a name");
  }

  expect(kind: Token["kind"]): Token {
    const what = kind === "end" ? "%}" : kind === "endPrint" ? "}}" : kind;
    return this.current.kind === kind ? this.next() : this.fail(what);
  }

  fail(expected: string): never {
    const { kind, value, line } = this.current;
    const found = kind === "eof" ? "the end of the template" : `"${value}"`;
    throw wrong(`${found} where ${expected} was expected`, line);
  }
}
