import { HIDDEN } from "./language.ts";

/**
 * The value of an expression of numbers, + - * / % and max or min ( … , … ), products first; NaN for an untold number, null if unreadable.
 * @example readExpression("( 12 + 5 ) * 3 % 10") // 1
 */
export function readExpression(text: string): number | null {
  const tokens = text.split(" ");
  let at = 0;
  const take = (...wanted: string[]): string | null => {
    const token = tokens[at];
    if (token === undefined || !wanted.includes(token)) return null;
    at += 1;
    return token;
  };
  const chain = (operand: () => number, signs: readonly string[]): number => {
    let value = operand();
    for (let sign = take(...signs); sign !== null; sign = take(...signs))
      value = joined(value, sign, operand());
    return value;
  };
  const sum = (): number => chain(product, ["+", "-"]);
  const product = (): number => chain(atom, ["*", "/", "%"]);
  const atom = (): number => {
    const extreme = take("max", "min");
    if (take("(") !== null) {
      const values = [sum()];
      while (extreme !== null && take(",") !== null) values.push(sum());
      if (take(")") === null) throw new Unreadable();
      if (extreme === null) return values[0] ?? NaN;
      return extreme === "max" ? Math.max(...values) : Math.min(...values);
    }
    const token = tokens[at++] ?? "";
    if (extreme !== null || !(token === HIDDEN.expression || /^\d+(\.\d+)?$/.test(token)))
      throw new Unreadable();
    return Number(token);
  };
  try {
    const value = sum();
    return at === tokens.length ? value : null;
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

class Unreadable extends Error {}

function joined(left: number, sign: string, right: number): number {
  switch (sign) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    default:
      return left - right * Math.floor(left / right);
  }
}
