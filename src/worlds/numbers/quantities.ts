/** Operations of a step. "%" is the remainder of a division; "max" and "min" take any number of values. */
export const OPERATIONS = ["+", "-", "*", "/", "%", "max", "min"] as const;

export type Operation = (typeof OPERATIONS)[number];

/** A number in a solution: one of the text, or the result of step 1, 2, … as "#1", "#2". */
export type Quantity = { text: string; value: number };

/** One operation of a solution. */
export interface Step {
  question: string;
  /** "48 + 17", "#1 * 3", "max ( #1 , #2 , 9 )" */
  expression: string;
  value: number;
}

/** A solution while it is written: every operation adds a step. */
export type Plan = (question: string, operation: Operation, ...operands: Quantity[]) => Quantity;

/** Writes a solution and returns its steps. */
export function stepsOf(route: (plan: Plan) => Quantity): Step[] {
  const steps: Step[] = [];
  route((question, operation, ...operands) => {
    const value = applied(
      operation,
      operands.map((operand) => operand.value),
    );
    const texts = operands.map(({ text }) => text);
    steps.push({ question, expression: expressionOf(operation, texts), value });
    return { text: `#${steps.length}`, value };
  });
  return steps;
}

/** A number of the text. */
export function given(value: number): Quantity {
  return { text: String(value), value };
}

export function applied(operation: Operation, values: readonly number[]): number {
  const [a = NaN, b = NaN] = values;
  switch (operation) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
    case "max":
      return Math.max(...values);
    case "min":
      return Math.min(...values);
  }
}

/** An operation as text; every number has a space before it, so that numbers begin alike for a tokenizer. */
export function expressionOf(operation: Operation, operands: readonly string[]): string {
  if (operation === "max" || operation === "min") return `${operation} ( ${operands.join(" , ")} )`;
  return operands.join(` ${operation} `);
}

/** The parts of an expression of one operation; null when the text is none. */
export function partsOf(text: string): { operation: Operation; operands: string[] } | null {
  const extreme = /^(max|min) \( (.+) \)$/.exec(text);
  if (extreme !== null)
    return { operation: extreme[1] as Operation, operands: (extreme[2] ?? "").split(" , ") };
  const [, a, operation, b] = /^(\S+) ([-+*/%]) (\S+)$/.exec(text) ?? [];
  if (a === undefined || b === undefined) return null;
  return { operation: operation as Operation, operands: [a, b] };
}

/**
 * Every accepted spelling of a value, the plainest first. @param value not negative; a whole number, or a multiple of 1/4.
 * @example spellings(1200) // ["1200", "1,200", "1 200"]; spellings(7.5) // ["7.5", "15/2", "7 1/2", "7.50"]
 */
export function spellings(value: number): string[] {
  if (!Number.isInteger(value)) return fractionSpellings(value);
  const plain = String(value);
  const grouped = (sign: string): string => plain.replace(/\B(?=(?:\d{3})+$)/g, sign);
  return [...new Set([plain, grouped(","), grouped(" ")])];
}

function fractionSpellings(value: number): string[] {
  const below = Number.isInteger(value * 2) ? 2 : 4;
  const whole = Math.floor(value);
  const mixed = `${whole === 0 ? "" : `${whole} `}${(value - whole) * below}/${below}`;
  return [...new Set([String(value), `${value * below}/${below}`, mixed, value.toFixed(2)])];
}
