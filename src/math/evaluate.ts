/** Evaluates expressions at points, in exact fractions as long as they stay rational, else in complex numbers. */
import type * as mathjs from "mathjs";
import type { Complex, Fraction, MathNode } from "mathjs";
import { random } from "../base/random.ts";
import { once } from "../base/once.ts";
import { NotMath } from "./latex.ts";

type Value = Fraction | Complex;
type Functions = Readonly<Record<string, (...args: Value[]) => Value>>;

/** Limits of one comparison. mathjs is synchronous, so that no timer could stop it. */
export const MATH_LIMITS = {
  /** Characters of one side; longer texts are compared as words. */
  characters: 400,
  /** Of one comparison: characters parsed, nodes visited, and 64 bits of exact values. */
  operations: 50_000,
  /** Bits of the numerator or denominator of an exact value. */
  bits: 4_096,
  /** Largest n of n! and of binomials. */
  factorial: 500,
} as const;

/** Operations of a comparison. */
export interface Work {
  operations: number;
}

export type Mathjs = typeof mathjs;

// The bundle loads in .2 s, the package's entry (a file per function) in 2 s. It has no types of its own.
const BUNDLE: string = "mathjs/lib/browser/math.js";

/** mathjs, loaded at the first comparison that needs it; its parser keeps every digit. */
export const loadMathjs = once(async (): Promise<Mathjs> => {
  const { default: math } = (await import(BUNDLE)) as {
    default: Mathjs & { config(settings: { number: "Fraction" }): void };
  };
  math.config({ number: "Fraction" });
  return math;
});

const ARITHMETIC = new Set(["add", "subtract", "multiply", "divide", "unaryMinus", "unaryPlus"]);
const EXACT = new Set(["abs", "floor", "ceil", "gcd", "lcm", "min", "max"]);
const COMPLEX = new Set(
  "sin cos tan sec csc cot asin acos atan sinh cosh tanh exp log log10 sqrt abs".split(" "),
);

/** @throws {NotMath} for a text that is no expression. */
export function parseExpression(text: string, math: Mathjs): MathNode {
  try {
    return math.parse(text);
  } catch {
    return fail();
  }
}

/** The names of what an expression leaves open. @throws {NotMath} for a node or function that is not allowed. */
export function symbolsOf(node: MathNode): Set<string> {
  const names = new Set<string>();
  const functions = new Set<MathNode>();
  node.traverse((each) => {
    const { type } = each as { type: string };
    if (!NODES.has(type)) throw new NotMath();
    if (type === "FunctionNode") functions.add((each as unknown as { fn: MathNode }).fn);
    const { name } = each as unknown as { name: string };
    if (type === "SymbolNode" && !functions.has(each) && !(name in CONSTANTS)) names.add(name);
  });
  return names;
}

const NODES = new Set([
  ...["ConstantNode", "SymbolNode", "OperatorNode", "ParenthesisNode", "FunctionNode"],
]);
const CONSTANTS: Readonly<Record<string, readonly [re: number, im: number]>> = {
  e: [Math.E, 0],
  pi: [Math.PI, 0],
  i: [0, 1],
};

/** Values for symbols: rational, all positive in the first three points, of any sign in the others. */
export function pointsFor(names: readonly string[], math: Mathjs): Map<string, Fraction>[] {
  return Array.from({ length: names.length === 0 ? 1 : POINTS }, (_, i) => {
    const draw = random("math points").derive(i);
    const isNegative = (place: number): boolean =>
      i >= POSITIVE && (place === 0 || draw.int(2) === 0);
    const valueAt = (place: number): Fraction =>
      math.fraction((isNegative(place) ? -1 : 1) * (draw.int(90) + 7), draw.int(30) + 31);
    return new Map([...names].sort().map((name, place) => [name, valueAt(place)]));
  });
}

export const POSITIVE = 3;
const POINTS = 5;

/**
 * The value of an expression at a point.
 *
 * @throws {NotMath} where it is not finite, too large to be exact, or the work of the comparison is used up.
 */
export function evaluate(
  node: MathNode,
  point: ReadonlyMap<string, Fraction>,
  math: Mathjs,
  work: Work,
): Value {
  const of = (each: MathNode): Value => bounded(visit(each));
  return of(node);

  function visit(each: MathNode): Value {
    if (++work.operations > MATH_LIMITS.operations) throw new NotMath();
    if (math.isConstantNode(each)) return each.value as unknown as Fraction;
    if (math.isParenthesisNode(each)) return of(each.content);
    if (math.isSymbolNode(each)) {
      const constant = CONSTANTS[each.name];
      return constant === undefined ? (point.get(each.name) ?? fail()) : math.complex(...constant);
    }
    if (math.isOperatorNode(each)) return apply(each.fn, each.args.map(of));
    if (math.isFunctionNode(each)) return apply(each.fn.name, each.args.map(of));
    return fail();
  }

  function apply(name: string, args: Value[]): Value {
    const [first = fail(), second] = args;
    const exact = args.filter((value) => math.isFraction(value));
    if (exact.length === args.length && (ARITHMETIC.has(name) || EXACT.has(name)))
      return name === "divide" && exact[1]?.n === 0n ? fail() : call(name, args);
    if (name === "factorial") return factorial(whole(first));
    if (name === "combinations") return binomial(whole(first), whole(second));
    if (name === "pow" && second !== undefined) return power(first, second);
    if (name === "nthRoot" && second !== undefined) return root(first, second);
    const inexact = args.map(complex);
    if (!ARITHMETIC.has(name) && !COMPLEX.has(name)) return fail();
    return complex(call(name, inexact));
  }

  function power(base: Value, exponent: Value): Value {
    const times = math.isFraction(exponent) && exponent.d === 1n ? exponent.s * exponent.n : null;
    if (math.isFraction(base) && times !== null) {
      if (base.n === 0n) return times > 0n ? base : fail();
      const size = times < 0n ? -times : times;
      if (size * BigInt(bits(base)) > BigInt(MATH_LIMITS.bits) && bits(base) > 1) return fail();
      if (size > MAX_EXPONENT) return fail();
      return call("pow", [base, exponent]);
    }
    return complex(call("pow", [complex(base), complex(exponent)]));
  }

  /** The real root of a negative number for an odd degree, as school books define it. */
  function root(radicand: Value, degree: Value): Value {
    const n = whole(degree);
    const { re, im } = complex(radicand);
    if (n === 0) return fail();
    if (im === 0 && re < 0 && n % 2 === 1) return math.complex(-((-re) ** (1 / n)), 0);
    return complex(call("pow", [complex(radicand), math.complex(1 / n, 0)]));
  }

  function factorial(n: number): Value {
    let product = 1n;
    for (let i = 2; i <= n; i++) product *= BigInt(i);
    return math.fraction(product, 1n);
  }

  function binomial(n: number, k: number): Value {
    if (k > n) return math.fraction(0);
    let chosen = 1n;
    for (let i = 1; i <= k; i++) chosen = (chosen * BigInt(n - k + i)) / BigInt(i);
    return math.fraction(chosen, 1n);
  }

  function whole(value: Value | undefined): number {
    if (value === undefined || !math.isFraction(value) || value.d !== 1n || value.s < 0n)
      return fail();
    return value.n > BigInt(MATH_LIMITS.factorial) ? fail() : Number(value.n);
  }

  function complex(value: Value | number): Complex {
    if (math.isComplex(value)) return value;
    return math.complex(value.valueOf(), 0);
  }

  /** mathjs throws for arguments where a function is not defined. */
  function call(name: string, args: Value[]): Value {
    try {
      return (math as unknown as Functions)[name]?.(...args) ?? fail();
    } catch {
      return fail();
    }
  }

  function bounded(value: Value): Value {
    if (math.isFraction(value)) {
      work.operations += bits(value) >> 6;
      return bits(value) > MATH_LIMITS.bits ? fail() : value;
    }
    return Number.isFinite(value.re) && Number.isFinite(value.im) ? value : fail();
  }
}

/** Beyond it even the powers of 1 are not computed. */
const MAX_EXPONENT = 100_000n;

function bits({ n, d }: Fraction): number {
  const hex = (n > d ? n : d).toString(16);
  return 4 * hex.length - Math.clz32(parseInt(hex.charAt(0), 16)) + 28;
}

function fail(): never {
  throw new NotMath();
}
