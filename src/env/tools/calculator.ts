import { z } from "../../base/schema.ts";
import { defineTool, stateless } from "./tool.ts";

/** Arithmetic on decimal numbers: + - * / ^, parentheses, a minus before a number. */
export const calculator = defineTool({
  name: "calculator",
  summary: "The value of an arithmetic expression.",
  description: "Computes an expression of numbers, + - * / ^ and parentheses.",
  parameters: z.object({ expression: z.string() }),
  options: z.strictObject({
    /** Decimal places of a result that is not a whole number. */
    places: z.int().min(0).max(12).default(6),
  }),
  example: { good: "2 * (3 + 4)", bad: "2 +" },
  create: ({ places }) => ({
    open: () =>
      stateless(({ expression }, { signal }) => {
        signal.throwIfAborted();
        const found = evaluated(expression);
        if (typeof found === "number") {
          const text = String(Number(found.toFixed(places)));
          return { text, data: { value: found } };
        }
        return {
          text: `Not computed: ${found.problem}.`,
          problem: { code: "bad-expression", message: found.problem },
        };
      }),
  }),
});

/** Longest expression, in tokens: nesting is evaluated by recursion. */
const MOST_TOKENS = 1000;

/** The value of an expression, or its problem. Powers bind from the right, tighter than a minus. @example evaluated("-2 ^ 2 + 1") // -3 */
export function evaluated(expression: string): number | { problem: string } {
  const tokens = expression.match(/\d+(?:\.\d+)?|\.\d+|\S/g) ?? [];
  if (tokens.length === 0) return { problem: "the expression is empty" };
  if (tokens.length > MOST_TOKENS) return { problem: `it has more than ${MOST_TOKENS} parts` };
  try {
    const reader = new Reader(tokens);
    const value = reader.sum();
    if (reader.next !== undefined) throw new Unreadable(`"${reader.next}" is not expected there`);
    return Number.isFinite(value) ? value : { problem: "the result is not a finite number" };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

class Unreadable extends Error {}

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  get next(): string | undefined {
    return this.#tokens[this.#at];
  }

  sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#take("+")) value += this.#product();
      else if (this.#take("-")) value -= this.#product();
      else return value;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      if (this.#take("*")) value *= this.#signed();
      else if (this.#take("/")) value = divided(value, this.#signed());
      else return value;
    }
  }

  #signed(): number {
    return this.#take("-") ? -this.#signed() : this.#power();
  }

  #power(): number {
    const base = this.#atom();
    return this.#take("^") ? base ** this.#signed() : base;
  }

  #atom(): number {
    const token = this.next;
    if (token === undefined) throw new Unreadable("it ends too early");
    this.#at += 1;
    if (token === "(") {
      const value = this.sum();
      if (!this.#take(")")) throw new Unreadable("a parenthesis is not closed");
      return value;
    }
    if (!/^[\d.]+$/.test(token) || token === ".")
      throw new Unreadable(`"${token}" is not expected there`);
    return Number(token);
  }

  #take(token: string): boolean {
    if (this.next !== token) return false;
    this.#at += 1;
    return true;
  }
}

function divided(value: number, by: number): number {
  if (by === 0) throw new Unreadable("division by zero");
  return value / by;
}
