import { unsupported, wrong } from "./values.ts";

/** Python's arithmetic: int with int is exact, anything else is float. */
export function ofNumbers(
  operator: string,
  a: bigint | number,
  b: bigint | number,
): bigint | number {
  if (typeof a === "bigint" && typeof b === "bigint") return ofIntegers(operator, a, b);
  const [x, y] = [asFloat(a), asFloat(b)];
  if (/[/%]/.test(operator) && y === 0) throw wrong("division by zero");
  switch (operator) {
    case "+":
      return x + y;
    case "-":
      return x - y;
    case "*":
      return x * y;
    case "/":
      return x / y;
    case "%":
      return floatModulo(x, y);
    case "//": {
      const quotient = (x - floatModulo(x, y)) / y;
      const floor = Math.floor(quotient);
      return quotient - floor > 0.5 ? floor + 1 : floor === 0 ? (x / y < 0 ? -0 : 0) : floor;
    }
    default:
      throw unsupported("a power of floats, whose last digit depends on the machine");
  }
}

function asFloat(value: bigint | number): number {
  const float = Number(value);
  if (typeof value === "bigint" && !Number.isFinite(float)) throw wrong("int too large to convert to float"); // prettier-ignore
  return float;
}

function floatModulo(x: number, y: number): number {
  const rest = x % y;
  if (rest === 0) return y < 0 ? -0 : 0;
  return rest < 0 === y < 0 ? rest : rest + y;
}

function ofIntegers(operator: string, a: bigint, b: bigint): bigint | number {
  if (/[/%]/.test(operator) && b === 0n) throw wrong("division by zero");
  const rest = operator === "//" || operator === "%" ? a % b : 0n;
  const adjusts = rest !== 0n && rest < 0n !== b < 0n;
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return bounded(a * b);
    case "/":
      if (!Number.isSafeInteger(Number(a)) || !Number.isSafeInteger(Number(b))) throw unsupported("a division of whole numbers above 2^53"); // prettier-ignore
      return Number(a) / Number(b);
    case "//":
      return a / b - (adjusts ? 1n : 0n);
    case "%":
      return adjusts ? rest + b : rest;
    default:
      if (b < 0n) throw unsupported("a power with a negative exponent");
      if (a > 1n || a < -1n) requireBits(b * BigInt(a.toString(2).length));
      return a ** b;
  }
}

/** Python writes no whole number of more than 4300 digits. */
function bounded(value: bigint): bigint {
  if (value > 2n ** 14_000n || value < -(2n ** 14_000n)) requireBits(15_000n);
  return value;
}

function requireBits(bits: bigint): void {
  if (bits > 14_000n) throw unsupported("a whole number of more than 4200 digits");
}
