import { describe, expect, it } from "vitest";
import { MATH_LIMITS } from "../../src/math/evaluate.ts";
import { compareMath, mathEqual } from "../../src/math/math-equal.ts";

/** Each family: reference, an equal answer, a wrong one. */
const FAMILIES = [
  ["fractions", "\\frac{1}{2}", "\\tfrac12", "\\frac{2}{1}"],
  ["mixed numbers", "\\frac{7}{3}", "2\\frac{1}{3}", "2\\frac{2}{3}"],
  ["thousands", "1,234,567", "1234567", "1,234,576"],
  ["per cents", "12.5\\%", "0.125", "0.0125"],
  ["units", "5\\text{ cm}", "5 cm", "6 cm"],
  ["roots", "\\sqrt{8}", "2\\sqrt2", "2.828"],
  ["odd roots of negative numbers", "\\sqrt[3]{-8}", "-2", "2"],
  ["towers of powers", "2^3^2", "512", "64"],
  ["long integers", "2^{64}", "18446744073709551616", "18446744073709551615"],
  ["powers of thousands of bits", "2^{2023}", "2 \\cdot 2^{2022}", "2^{2022}"],
  ["small numbers", "2^{-60}", "\\frac{1}{2^{60}}", "2^{-61}"],
  ["logarithms", "\\log_2 12", "2+\\log_2 3", "2\\log_2 3"],
  ["trigonometry", "\\sin^2 x", "1-\\cos^2 x", "1-\\cos x"],
  ["degrees in functions", "\\cos 60^\\circ", "\\frac12", "\\cos 60"],
  ["polynomials", "(x+1)^2", "x^2+2x+1", "x^2+1"],
  ["absolute values", "|x|", "\\sqrt{x^2}", "x"],
  ["equations", "y=2x+1", "4x-2y+2=0", "y=2x-1"],
  ["assignments", "x=5", "5", "-5"],
  ["inequalities", "x>3", "2x > 6", "x<3"],
  ["strictness", "x \\ge 3", "3 \\leq x", "x>3"],
  ["tuples", "(1,\\frac12)", "(1.0, 0.5)", "(0.5, 1)"],
  ["pairs of names", "(x,y)=(1,2)", "(1,2)", "(2,1)"],
  ["chains", "1<x\\le 2", "2 \\geq x > 1", "1<x<2"],
  ["lists of hundreds", "100, 200", "200, 100", "100200"],
  ["lists for tuples: in order", "(1,2)", "1,2", "2,1"],
  ["variables that look like units", "3m", "3 \\cdot m", "3"],
  ["lists", "2,3", "3 and 2", "2"],
  ["sets", "\\{1,2\\}", "\\{2,1,1\\}", "\\{1,3\\}"],
  ["unions of sets", "\\{1\\}\\cup\\{2\\}", "\\{2,1\\}", "\\{1\\}"],
  ["intervals", "[0,\\infty)", "\\left[0,+\\infty\\right)", "(0,\\infty)"],
  ["unions of intervals", "(0,1)\\cup[2,3]", "[2,3] \\cup (0,1)", "(0,1)\\cup(2,3)"],
  ["±", "1\\pm\\sqrt2", "1-\\sqrt2, 1+\\sqrt2", "1+\\sqrt2"],
  [
    "matrices",
    "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}",
    "\\begin{bmatrix}1.0&2\\\\3&4\\end{bmatrix}",
    "\\begin{pmatrix}1&2\\\\4&3\\end{pmatrix}",
  ],
  ["complex numbers", "(1+i)^2", "2i", "-2i"],
  ["scientific notation", "3 \\times 10^8", "3e8", "3e7"],
  ["numerals of other bases", "101_2", "5", "101_3"],
  ["letters of choices", "\\text{(A)}", "A", "B"],
  ["words", "\\text{even}", "Even", "odd"],
] as const;

describe("two answers", () => {
  it.each(FAMILIES)("are compared as %s", async (_, reference, right, wrong) => {
    expect(await mathEqual(right, reference)).toBe(true);
    expect(await mathEqual(reference, right)).toBe(true);
    expect(await mathEqual(wrong, reference)).toBe(false);
    expect(await mathEqual(reference, wrong)).toBe(false);
  });

  it("are not equal for a value that neither has", async () => {
    expect(await mathEqual("1/0", "2/0")).toBe(false);
    expect(await mathEqual("1/0", "1/0")).toBe(true);
  });

  it("are not equal where one repeats a number", async () => {
    expect(await mathEqual("1 1 1 1", "1")).toBe(false);
    expect(await mathEqual("2 3", "6")).toBe(false);
  });

  it("are compared as words where one is no mathematics", async () => {
    expect(await mathEqual("\\foo{3}", "\\foo{4}")).toBe(false);
    expect(await mathEqual("f(x)=x; import(1)", "3")).toBe(false);
  });

  it.each([
    ["a long text", `${"1+".repeat(MATH_LIMITS.characters)}1`, "5"],
    ["a power beyond the bits", "9^{9^{9^9}}", "1"],
    ["a power of 1 beyond the exponents", "1^{999999999}", "2"],
    ["a large factorial", "999!", "1"],
    ["deep brackets", `${"(".repeat(150)}x${")".repeat(150)}`, "1"],
    ["a long list", "1,".repeat(150), "1,2"],
    ["lists whose items are all compared", "x^2+1,".repeat(30), `${"x^2+2,".repeat(29)}x^2+3`],
  ])("are not equal where %s is beyond the limits", async (_, prediction, reference) => {
    const { isEqual, operations } = await compareMath(prediction, reference);
    expect(isEqual).toBe(false);
    expect(operations).toBeLessThan(MATH_LIMITS.operations + 2 * MATH_LIMITS.characters);
  });
});
