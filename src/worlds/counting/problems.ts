/** Problems that need a loop: their sentences, a way to solve them by hand, and a Python program. */
import type { Random } from "../../base/random.ts";
import { filled } from "../numbers/language.ts";

type Slots = Readonly<Record<string, number>>;

/** A solution by hand: lines of one sentence each, and what they come to. */
export interface ByHand {
  lines: string[];
  answer: number;
}

interface Kind {
  text: string;
  /** Numbers that a pool's problems may have; whether they fit is for `solve` to say. */
  draw: (draw: Random, largest: number) => Slots;
  /** The values that a person goes through one by one; the answer is their number, their sum, or the last of them. */
  values: (slots: Slots) => number[];
  answer: "count" | "sum" | "last";
  program: string;
}

/** Numbers from `from` to `to`, both included, that fit. */
function among(from: number, to: number, fits: (n: number) => boolean): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i).filter(fits);
}

function drawnRange(draw: Random, largest: number): { a: number; b: number } {
  const [a = 1, b = 1] = [1 + draw.int(largest), 1 + draw.int(largest)].sort((x, y) => x - y);
  return { a, b };
}

const between = (draw: Random, least: number, most: number): number =>
  least + draw.int(most - least + 1);

/** Numbers after one another, each made from the one before. */
function halved({ a = 1, k = 1, m = 1 }: Slots): number[] {
  const values = [a];
  for (let i = 0; i < m; i++) {
    const last = values.at(-1) ?? 0;
    values.push(last % 2 === 0 ? last / 2 : last + k);
  }
  return values;
}

const KINDS = {
  multiples: {
    text: "How many numbers from {a} to {b} does {k} divide?",
    draw: (draw, largest) => ({ ...drawnRange(draw, largest), k: between(draw, 3, 9) }),
    values: ({ a = 1, b = 1, k = 1 }) => among(a, b, (n) => n % k === 0),
    answer: "count",
    program: "print(sum(n % {k} == 0 for n in range({a}, {b} + 1)))",
  },
  total: {
    text: "What is the sum of the numbers from {a} to {b} with remainder {r} by {k}?",
    draw(draw, largest) {
      const k = between(draw, 3, 9);
      return { ...drawnRange(draw, largest), k, r: draw.int(k) };
    },
    values: ({ a = 1, b = 1, k = 1, r = 0 }) => among(a, b, (n) => n % k === r),
    answer: "sum",
    program: "print(sum(n for n in range({a}, {b} + 1) if n % {k} == {r}))",
  },
  smallest: {
    text: "What is the smallest number above {a} with remainder {r} by {k} and {s} by {m}?",
    draw(draw, largest) {
      const [k, m] = [between(draw, 3, 7), between(draw, 3, 9)];
      return { a: between(draw, 1, largest), k, m, r: draw.int(k), s: draw.int(m) };
    },
    values({ a = 1, k = 1, m = 1, r = 0, s = 0 }) {
      const tried = among(a + 1, a + k * m, (n) => n % k === r);
      const found = tried.findIndex((n) => n % m === s);
      return found < 0 ? [] : tried.slice(0, found + 1);
    },
    answer: "last",
    program:
      "print(min(n for n in range({a} + 1, {a} + 100) if n % {k} == {r} and n % {m} == {s}))",
  },
  factors: {
    text: "How many factors has {a}?",
    draw: (draw, largest) => ({ a: between(draw, 6, largest) }),
    values: ({ a = 1 }) => among(1, a, (n) => a % n === 0),
    answer: "count",
    program: "print(sum({a} % n == 0 for n in range(1, {a} + 1)))",
  },
  digits: {
    text: "How many numbers from {a} to {b} have digits with sum {s}?",
    draw: (draw, largest) => ({ ...drawnRange(draw, largest), s: between(draw, 3, 14) }),
    values: ({ a = 1, b = 1, s = 0 }) => among(a, b, (n) => Math.floor(n / 10) + (n % 10) === s),
    answer: "count",
    program: "print(sum(n // 10 + n % 10 == {s} for n in range({a}, {b} + 1)))",
  },
  steps: {
    text: "A number is {a}. In each step half of an even number is left, and an odd number has {k} more. What is the number after {m} steps?",
    draw: (draw, largest) => ({
      a: between(draw, 5, largest),
      k: 1 + 2 * draw.int(5),
      m: between(draw, 3, 12),
    }),
    values: halved,
    answer: "last",
    program: "n = {a}\nfor i in range({m}):\n  n = n // 2 if n % 2 == 0 else n + {k}\nprint(n)",
  },
} as const satisfies Record<string, Kind>;

/** Kinds of problem, each also its only concept. */
export const COUNTING_KINDS = Object.keys(KINDS) as CountingKind[];

export type CountingKind = keyof typeof KINDS;

export type Counting = { kind: CountingKind; slots: Slots };

/** A problem some of whose numbers are names. */
type OpenCounting = { kind: CountingKind; slots: Readonly<Record<string, number | string>> };

/** @param largest no number of the text is larger; two digits at most, which `digits` needs. */
export function drawnCounting(draw: Random, kind: CountingKind, largest: number): Counting {
  return { kind, slots: KINDS[kind].draw(draw, largest) };
}

export function countingText({ kind, slots }: OpenCounting): string {
  return filled(KINDS[kind].text, slots);
}

const READERS = COUNTING_KINDS.map((kind) => {
  const { text } = KINDS[kind];
  const names = [...text.matchAll(/\{(\w)\}/g)].map(([, name = ""]) => name);
  const pattern = text.replaceAll(/[.?]/g, "\\$&").replaceAll(/\{\w\}/g, "(\\d+)");
  return { kind, names, reads: new RegExp(`^${pattern}$`) };
});

/** The problem that a text tells; null where it is none. */
export function readCounting(text: string): Counting | null {
  for (const { kind, names, reads } of READERS) {
    const found = reads.exec(text);
    if (found === null) continue;
    const slots = Object.fromEntries(names.map((name, i) => [name, Number(found[i + 1])]));
    return { kind, slots };
  }
  return null;
}

/** What a person goes through, one by one. */
export function valuesOf({ kind, slots }: Counting): number[] {
  return KINDS[kind].values(slots);
}

export function programOf({ kind, slots }: OpenCounting): string {
  return filled(KINDS[kind].program, slots);
}

/**
 * The values of a solution by hand written out, and what they come to: numbered where they are counted, added where their sum is asked for,
 * each with its second remainder where the first that fits is. @param add adds two numbers, with slips or without.
 */
export function byHand(
  { kind, slots }: Counting,
  values: readonly number[],
  add: (a: number, b: number) => number = (a, b) => a + b,
): ByHand {
  const { answer } = KINDS[kind];
  const listed = values.map((value, i) => {
    if (answer === "count") return `${i + 1}: ${value}`;
    return kind === "smallest" ? `${value}: ${value % (slots["m"] ?? 1)}` : String(value);
  });
  const lines = [`${listed.join(", ")}.`];
  if (answer === "count") return { lines, answer: values.length };
  if (answer === "last") return { lines, answer: values.at(-1) ?? 0 };
  const total = values.slice(1).reduce((sum, each) => {
    const next = add(sum, each);
    lines.push(`${sum} + ${each} = ${next}.`);
    return next;
  }, values[0] ?? 0);
  return { lines, answer: total };
}
