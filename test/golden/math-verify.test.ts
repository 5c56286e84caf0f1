import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { finalAnswer } from "../../src/math/extract-answer.ts";
import { mathEqual } from "../../src/math/math-equal.ts";

interface Pair {
  part: "pairs" | "held-out";
  reference: string;
  prediction: string;
  /** Whether the prediction is a whole completion. */
  completion: boolean;
  /** The verdict by hand. */
  right: boolean;
  mathVerify: boolean;
  /** null: sympy's translation cannot read it. */
  sympy: boolean | null;
}

const { pairs } = JSON.parse(
  await readFile(new URL("math-verify.json", import.meta.url), "utf8"),
) as { pairs: Pair[] };

async function verdictOn({ reference, prediction, completion }: Pair): Promise<boolean> {
  const answer = completion ? finalAnswer(prediction, "any") : prediction;
  return answer !== null && (await mathEqual(answer, reference));
}

/** The pairs, as "reference | prediction", on which our verdict is another one, and the share of the others. */
async function compared(
  verdict: (pair: Pair) => boolean | null,
  part?: Pair["part"],
): Promise<{ differing: string[]; agreement: number }> {
  const known = pairs.filter((pair) => verdict(pair) !== null && pair.part === (part ?? pair.part));
  const differing: string[] = [];
  for (const pair of known)
    if ((await verdictOn(pair)) !== verdict(pair))
      differing.push(`${pair.reference} | ${pair.prediction}`);
  return { differing, agreement: 1 - differing.length / known.length };
}

/** Where math-verify's verdict is another one, by its reason. Each time ours is right, and sympy's where it can read the pair. */
const AGAINST_MATH_VERIFY = {
  "A point at the end": ["204 | 204."],
  "Digits in groups, apart": ["10 000 | 10000"],
  "A unit without \\text": ["72 | 72 clips", "3 | 3 eggs"],
  "A mixed number of per cents": ["66\\frac{2}{3}\\% | \\frac{200}{3}\\%"],
  "It rounds to six decimals, so that small numbers are equal": [
    "1.6 \\times 10^{-19} | 1.6 \\times 10^{-18}",
  ],
  "It reads e and i as names": [
    "1.5e3 | 1500",
    "i^2 | -1",
    "(1+i)^2 | 2i",
    "e^{i\\pi} | -1",
    "(2+i)(2-i) | 5",
    "\\frac{1}{1+i} | \\frac{1-i}{2}",
  ],
  "It drops the base: 2516 is 1358 in base 8 and 944 in base 7": ["2516_8 | 2516_7"],
  "It drops the degrees, which are radians then": ["\\frac{\\sqrt{6}-\\sqrt{2}}{4} | \\cos 75^\\circ"],
  "± within a fraction": [
    "\\frac{3\\pm\\sqrt{5}}{2} | \\frac{3+\\sqrt{5}}{2}, \\frac{3-\\sqrt{5}}{2}",
  ],
  "It takes all boxes for one list": ["5 | First \\boxed{3}, but after the correction \\boxed{5}."],
};

/** Where the verdict of our translation for sympy is another one: it cannot read the form. Ours is right, but for the number word. */
const AGAINST_SYMPY = [
  "025 | 25",
  "10 000 | 10000",
  "5\\text{ cm} | 5 cm",
  "45\\text{ mph} | 45 mph",
  "3 | 3 eggs",
  "\\frac{\\sqrt{6}-\\sqrt{2}}{4} | \\cos 75^\\circ",
];

/** What we get wrong: number words, which math-verify does not read either. */
const OURS_WRONG = ["5 | five"];

describe("the table of math-verify", () => {
  it("has 300 pairs and 100 held out, two fifths of each wrong", () => {
    for (const [part, least] of [["pairs", 300] as const, ["held-out", 100] as const]) {
      const table = pairs.filter((pair) => pair.part === part);
      expect(table.length).toBeGreaterThanOrEqual(least);
      const wrong = table.filter(({ right }) => !right);
      expect(wrong.length / table.length).toBeGreaterThanOrEqual(0.4);
    }
  });

  it("gives the verdict by hand for all pairs but one", async () => {
    expect((await compared(({ right }) => right)).differing).toEqual(OURS_WRONG);
  });

  it("gives math-verify's verdict for at least .98 of the pairs that it gets right", async () => {
    const known = ({ mathVerify, right }: Pair) => (mathVerify === right ? mathVerify : null);
    expect((await compared(known, "pairs")).agreement).toBeGreaterThanOrEqual(0.98);
    expect((await compared(known, "held-out")).agreement).toBeGreaterThanOrEqual(0.98);
  });

  it("differs from math-verify and sympy where they are wrong, and nowhere else", async () => {
    const { differing, agreement } = await compared(({ mathVerify }) => mathVerify);
    expect(differing.sort()).toEqual(Object.values(AGAINST_MATH_VERIFY).flat().sort());
    expect(agreement).toBeGreaterThanOrEqual(0.96);
    expect((await compared(({ sympy }) => sympy)).differing).toEqual(AGAINST_SYMPY);
  });
});
