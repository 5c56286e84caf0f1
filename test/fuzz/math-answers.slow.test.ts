/** Mutated answers: whatever a policy writes, a comparison ends within its bounds and gives a verdict. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type Random, random } from "../../src/base/random.ts";
import { MATH_LIMITS } from "../../src/math/evaluate.ts";
import { EXTRACTIONS, finalAnswer } from "../../src/math/extract-answer.ts";
import { compareMath } from "../../src/math/math-equal.ts";

const CASES = 10_000;

const { pairs } = JSON.parse(
  await readFile(new URL("../golden/math-verify.json", import.meta.url), "utf8"),
) as { pairs: { reference: string; prediction: string }[] };
const texts = pairs.flatMap(({ reference, prediction }) => [reference, prediction]);

const ODD = [
  ...["\u0000", "\u202e", "😀", "٣", "½", "∞", "−", "\ud800", "\n", "\\", "{", "}", "\\frac", "^"],
  ...["9".repeat(390), "10^{10^{10}}", "9^{9^{9^9}}", "170!!", "500!^{500}", "x^{999999}"],
  ...["1e999999999", "\\sqrt[999999]{2}", "\\binom{500}{250}^{9}", "0^{-1}", "1/0", "\\log_1 2"],
  ...["import", "createUnit(1)", "f(x)=x", "__proto__", "constructor", "x.constructor", "[1:9e9]"],
  ...["evaluate(1)", "\\begin{pmatrix}", "&", "\\\\", "\\pm", "%", ",", ";", "\\cup", "\\%", "_"],
];

/** One change of a text. */
const MUTATIONS: ((text: string, draw: Random) => string)[] = [
  (text, draw) => cut(text, draw.int(text.length + 1), 1 + draw.int(3)),
  (text, draw) => spliced(text, draw, text.slice(draw.int(text.length + 1)).slice(0, 8)),
  (text, draw) => spliced(text, draw, draw.pick(ODD)),
  (text, draw) => spliced(text, draw, draw.pick(texts)),
  (text, draw) => nested(text, draw),
  (text, draw) => `(${text})^{${"9".repeat(1 + draw.int(30))}}`,
  (text, draw) => text.replace(/\d/, "7".repeat(1 + draw.int(300))),
  (text, draw) =>
    Array.from(text)
      .map((sign) => (draw.int(9) === 0 ? draw.pick(Array.from(text)) : sign))
      .join(""),
  (text) => Array.from(text).reverse().join(""),
];

function cut(text: string, from: number, length: number): string {
  return text.slice(0, from) + text.slice(from + length);
}

function spliced(text: string, draw: Random, piece: string): string {
  const at = draw.int(text.length + 1);
  return text.slice(0, at) + piece + text.slice(at);
}

function nested(text: string, draw: Random): string {
  const [open, close] = draw.pick([
    ["{", "}"],
    ["(", ")"],
    ["\\frac{", "}2"],
    ["\\sqrt{", "}"],
    ["|", "|"],
    ["\\boxed{", "}"],
  ] as const);
  const times = 1 + draw.int(80);
  return open.repeat(times) + text + close.repeat(times);
}

function mutated(text: string, draw: Random): string {
  const changes = 1 + draw.int(3);
  return Array.from({ length: changes }).reduce<string>(
    (changed) => draw.pick(MUTATIONS)(changed, draw),
    text,
  );
}

describe("10 000 mutated answers", () => {
  it("each give a verdict within the limit of operations", async () => {
    const draw = random("math fuzz");
    let most = 0;
    let computed = 0;
    let unjudged = 0;
    for (let i = 0; i < CASES; i++) {
      const text = draw.pick(texts);
      const prediction = mutated(text, draw);
      const reference = draw.pick([text, draw.pick(texts), mutated(text, draw)]);
      const { isEqual, operations } = await compareMath(prediction, reference);
      if (typeof isEqual !== "boolean") unjudged += 1;
      most = Math.max(most, operations);
      computed += Number(operations > 0);
    }
    expect(unjudged).toBe(0);
    expect(most).toBeLessThanOrEqual(MATH_LIMITS.operations + 2 * MATH_LIMITS.characters);
    expect(computed).toBeGreaterThan(CASES / 20);
  });

  it("each give an answer by every extraction, or none", () => {
    const draw = random("extraction fuzz");
    let longer = 0;
    for (let i = 0; i < CASES; i++) {
      const text = mutated(draw.pick(texts), draw);
      const answer = finalAnswer(text, EXTRACTIONS[i % EXTRACTIONS.length]);
      longer += Number((answer?.length ?? 0) > text.length);
    }
    expect(longer).toBe(0);
  });
});
