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

/** The pairs, as "reference | prediction", on which our verdict is not the expected one, and the share of the others. */
async function compared(
  part: Pair["part"],
  expected: (pair: Pair) => boolean | null,
): Promise<{ differing: string[]; agreement: number }> {
  const known = pairs.filter((pair) => pair.part === part && expected(pair) !== null);
  const differing: string[] = [];
  for (const pair of known)
    if ((await verdictOn(pair)) !== expected(pair))
      differing.push(`${pair.reference} | ${pair.prediction}`);
  return { differing, agreement: 1 - differing.length / known.length };
}

/** Where math-verify and we differ, and who is right. */
const AGAINST_MATH_VERIFY = {
  // It refuses a point at the end, groups of digits, a unit without \text and a mixed number of per cents. We are right.
  "204 | 204.": "we",
  "10 000 | 10000": "we",
  "72 | 72 clips": "we",
  "66\\frac{2}{3}\\% | \\frac{200}{3}\\%": "we",
  // It rounds to six decimals, so that small numbers are equal. We are right, and so is sympy.
  "1.6 \\times 10^{-19} | 1.6 \\times 10^{-18}": "we",
  // It reads e and i as names here. We are right, and so is sympy.
  "1.5e3 | 1500": "we",
  "i^2 | -1": "we",
  "(1+i)^2 | 2i": "we",
  // It drops the base. 2516 in base 8 is 1358, in base 7 it is 944. We are right, and so is sympy.
  "2516_8 | 2516_7": "we",
  // It takes all boxes for one list. The last one is the answer: we are right.
  "5 | First \\boxed{3}, but after the correction \\boxed{5}.": "we",
};

/** Where sympy's verdict differs: its translation drops no unit without \text and reads neither 025 nor groups of digits. */
const AGAINST_SYMPY = ["025 | 25", "10 000 | 10000", "5\\text{ cm} | 5 cm", "45\\text{ mph} | 45 mph"];

describe("the table of math-verify", () => {
  it("has at least 300 pairs, two fifths of them wrong", () => {
    const table = pairs.filter(({ part }) => part === "pairs");
    expect(table.length).toBeGreaterThanOrEqual(300);
    expect(table.filter(({ right }) => !right).length / table.length).toBeGreaterThanOrEqual(0.4);
  });

  it("gives our verdicts except where math-verify is wrong", async () => {
    const { differing } = await compared("pairs", ({ mathVerify }) => mathVerify);
    expect(differing).toEqual(Object.keys(AGAINST_MATH_VERIFY));
  });
});
