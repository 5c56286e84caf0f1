import { type Random, random } from "../base/random.ts";
import { z } from "../base/schema.ts";
import { splitOf, SPLITS } from "../base/split.ts";
import { defineDataset, type MadeTask } from "./dataset.ts";

const options = z.strictObject({
  seed: z.int().min(0).default(7),
  /** Splits share no expression. */
  split: z.enum(SPLITS).default("train"),
  questions: z.int().min(1).default(500),
  /** Operations of an expression: at least and at most. */
  operations: z
    .tuple([z.int().min(1), z.int().max(10)])
    .refine(([least, most]) => least <= most, "expected the smaller number first")
    .default([2, 4]),
  /** No number is larger, in the expression and on the way to its value. */
  largest: z.int().min(9).default(99),
});

type Settings = z.output<typeof options>;

/** Expressions of whole numbers whose value is one: no negative number and no fraction comes up on the way. */
export const arithmetic = defineDataset({
  name: "arithmetic",
  summary: "Generated expressions of + - * / and whole numbers.",
  version: 1,
  options,
  open: (settings) => ({ stream: () => drawn(settings) }),
});

function* drawn(settings: Settings): Generator<MadeTask> {
  const { seed, split, questions } = settings;
  const seen = new Set<string>();
  for (let i = 0, attempt = 0; i < questions; attempt++) {
    const { text, value } = expression(random(seed).derive("arithmetic", attempt), settings);
    // Short expressions run out: after many attempts they may repeat.
    if (splitOf(text) !== split || (seen.has(text) && attempt < 100 * questions)) continue;
    seen.add(text);
    yield { id: `arithmetic-${split}-${i}`, question: text, references: [String(value)] };
    i += 1;
  }
}

interface Expression {
  text: string;
  value: number;
  /** Binding of its last operation: 1 sum, 2 product, 3 a number or parentheses. */
  binding: number;
}

/** An expression grown operation by operation; operations that would leave the range are drawn again. */
function expression(draw: Random, { operations: [least, most], largest }: Settings): Expression {
  let grown: Expression = numberOf(1 + draw.int(Math.ceil(largest / 2)));
  for (let left = least + draw.int(most - least + 1); left > 0;) {
    const sign = draw.pick(["+", "-", "*", "/"]);
    const most = sign === "*" || sign === "/" ? 9 : Math.ceil(largest / 2);
    const next = joined(grown, sign, 1 + draw.int(most));
    if (next === null || next.value > largest) continue;
    grown = next;
    left -= 1;
  }
  return grown;
}

/** An expression with one operation more; null where its value would be negative or no whole number. */
function joined(left: Expression, sign: string, right: number): Expression | null {
  const binding = sign === "+" || sign === "-" ? 1 : 2;
  const text = `${left.binding < binding ? `( ${left.text} )` : left.text} ${sign} ${right}`;
  const value = { "+": left.value + right, "-": left.value - right, "*": left.value * right }[sign];
  const result = value ?? left.value / right;
  return result < 0 || !Number.isInteger(result) ? null : { text, value: result, binding };
}

function numberOf(value: number): Expression {
  return { text: String(value), value, binding: 3 };
}
