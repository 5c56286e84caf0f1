import { describe, expect, it } from "vitest";
import { mathVerify } from "../../src/rewards/math-verify.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const score = (answer: string | null, references: readonly string[], options = {}) =>
  scoreWith(
    mathVerify,
    [{ trajectory: answered(answer), task: { ...task, references: [...references] } }],
    options,
  );

describe("math-verify", () => {
  it("gives 1 for an answer equal to any reference, else 0", async () => {
    expect(await score("0.75", ["\\frac{3}{4}"])).toEqual([1]);
    expect(await score("\\frac{6}{8}", ["1/2", "3/4"])).toEqual([1]);
    expect(await score("0.7", ["1/2", "3/4"])).toEqual([0]);
    expect(await score("Oslo.", ["oslo"])).toEqual([1]);
    expect(await score("Oslo", [])).toEqual([0]);
  });

  it("reads the last box of an answer, and what follows a marker", async () => {
    expect(await score("First \\boxed{3}, then $\\boxed{\\frac{1}{2}}$.", ["0.5"])).toEqual([1]);
    expect(await score("24 + 48 = 72\n#### 72", ["72"])).toEqual([1]);
    expect(await score("So the answer is 72.", ["72"])).toEqual([1]);
  });

  it("gives 0 for several candidates, and for the answer within prose", async () => {
    expect(await score("3 or 4", ["4"])).toEqual([0]);
    expect(await score("4 4 4", ["4"])).toEqual([0]);
    expect(await score("It may be 3, it may be 4", ["4"])).toEqual([0]);
  });

  it("pays for the last number of prose with extract: any, and only for a box with boxed", async () => {
    const prose = "She buys 3 more, so she has 7 apples";
    expect(await score(prose, ["7"], { extract: "any" })).toEqual([1]);
    expect(await score(prose, ["7"], { extract: "last-number" })).toEqual([1]);
    expect(await score("7", ["7"], { extract: "boxed" })).toEqual([0]);
    expect(await score("\\boxed{7}", ["7"], { extract: "boxed" })).toEqual([1]);
  });

  it("gives 0 for no answer: that is wrong, not unscorable", async () => {
    expect(await score(null, ["7"])).toEqual([0]);
  });
});
