import { describe, expect, it } from "vitest";
import { finalAnswer } from "../../src/math/extract-answer.ts";

describe("the final answer of a text", () => {
  it.each([
    ["the last box", "\\boxed{3}, no, \\boxed{5}.", "5"],
    ["a box with braces in it", "$\\boxed{\\frac{1}{\\sqrt{2}}}$ in all", "\\frac{1}{\\sqrt{2}}"],
    ["a set in a box: its braces are escaped", "\\boxed{\\{1,2\\}}", "\\{1,2\\}"],
    ["the last box that is closed", "\\boxed{4} and \\boxed{5", "4"],
    ["a box rather than a marker", "The answer is 3. \\boxed{4}", "4"],
    ["what follows ####", "2 + 2 = 4\n#### 4\n", "4"],
    [
      "what follows the last marker",
      "The answer is 3. No, the answer is: 3.5, as was asked.",
      "3.5",
    ],
    ["the whole text where there is neither", "3/4", "3/4"],
  ])("is %s", (_, text, answer) => {
    expect(finalAnswer(text)).toBe(answer);
  });

  it("is a box or nothing with boxed", () => {
    expect(finalAnswer("The answer is 3", "boxed")).toBe(null);
    expect(finalAnswer("\\boxed{ 3 }", "boxed")).toBe("3");
  });

  it("is the last number with last-number: with its sign, separators, fraction and per cent", () => {
    const last = (text: string): string | null => finalAnswer(text, "last-number");
    expect(last("from 3 to -4 degrees")).toBe("-4");
    expect(last("60-5")).toBe("5");
    expect(last("$1,234.50 in all")).toBe("1,234.50");
    expect(last("about 3/4 of them")).toBe("3/4");
    expect(last("by 12%.")).toBe("12%");
    expect(last("none")).toBe(null);
  });

  it("is the last number of prose with any, and the whole of anything shorter", () => {
    expect(finalAnswer("She buys 3 and has 7 now", "any")).toBe("7");
    expect(finalAnswer("3 or 4", "any")).toBe("3 or 4");
    expect(finalAnswer("no number stands here", "any")).toBe("no number stands here");
  });
});
