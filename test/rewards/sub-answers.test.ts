import { describe, expect, it } from "vitest";
import { rewardExpression } from "../../src/rewards/expression/expression.ts";
import { NO_HISTORY } from "../../src/rewards/context.ts";
import { subAnswers } from "../../src/rewards/sub-answers.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

async function scoreOf(answers: string[], credit?: string, steps = ["a1", "b1", "c1"]) {
  const text = answers.map((each) => `<think> x</think><answer> ${each}</answer>`).join("");
  const turn = { call: 0, text, actions: [], problems: [], observations: [] };
  const trajectory = answered(answers.at(-1) ?? "", { turns: [turn] });
  const decomposition = steps.map((answer) => ({ question: "", answer, passage: null }));
  const of = { ...task, references: ["last"], annotations: { decomposition } };
  return (await scoreWith(subAnswers, [{ trajectory, task: of }], credit === undefined ? {} : { credit }))[0]; // prettier-ignore
}

describe("sub-answers", () => {
  // R_base = .5 and N − 1 = 3 of arXiv 2505.19640; the reward is what R_base is multiplied by.
  it.each([
    // answers before the last, R of all-or-none, partial, time-discounted
    [["a1", "b1", "c1"], 0.5, 0.5, 0.5],
    [["a1", "x", "c1"], 0, 1 / 3, (0.5 / 3) * (1 + 1 / 3)],
    [["x", "b1", "c1"], 0, 1 / 3, (0.5 / 3) * (1 / 2 + 1 / 3)],
    [["a1"], 0, 1 / 6, 0.5 / 3],
    [["x", "y", "c1"], 0, 1 / 6, 0.5 / 9],
    [[], 0, 0, 0],
  ])("pays %j as published: %d, %d, %d", async (answers, all, partial, discounted) => {
    const given = [...answers, "last"];
    expect(0.5 * Number(await scoreOf(given, "all"))).toBeCloseTo(all, 12);
    expect(0.5 * Number(await scoreOf(given, "partial"))).toBeCloseTo(partial, 12);
    expect(0.5 * Number(await scoreOf(given))).toBeCloseTo(discounted, 12);
  });

  it("takes right answers in any order, and each once", async () => {
    expect(await scoreOf(["c1", "a1", "b1", "last"], "all")).toBe(1);
    expect(await scoreOf(["a1", "a1", "a1", "last"], "partial")).toBeCloseTo(1 / 3, 12);
    expect(await scoreOf(["a1", "b1", "c1", "x", "last"], "all")).toBe(0);
  });

  it("does not ask for the step whose answer is the question's own", async () => {
    expect(await scoreOf(["a1", "last"], "all", ["a1", "last"])).toBe(1);
  });

  it("cannot score a question without steps", async () => {
    expect(await scoreOf(["a1", "last"], "all", [])).toBeNull();
    expect(await scoreOf(["a1", "last"], "all", ["last"])).toBeNull();
  });
});

describe("the published reward as an expression", () => {
  const LEAVES = ["em", "format", "sub", "f1"];
  const text =
    "if(format, 1 + if(em, 2 + if(not known(last_mean(em)) or batch_mean(em) > last_mean(em) - 0.05, 0.5 * sub, 0), f1 > 0, -1.5, -2), -1)";
  const expression = rewardExpression(text, LEAVES);

  /** @param others accuracy of the rest of the batch: three more rows. */
  function valueOf(values: number[], others: number[], last: number | null) {
    const row = (given: number[]) => ({
      trajectory: answered("x"),
      values: new Map(LEAVES.map((name, i) => [name, given[i] ?? 0])),
    });
    const batch = [row(values), ...others.map((em) => row([em, 1, 0, em]))];
    const history = last === null ? NO_HISTORY : { mean: () => last };
    return expression.combine(batch, { step: 1, totalSteps: 2, history })[0];
  }

  it("pays format, answer and sub-answers: 1 + 2 + .5 · 4/9", () => {
    expect(valueOf([1, 1, 4 / 9, 1], [0, 0, 0], null)).toBeCloseTo(3 + 2 / 9, 12);
    expect(valueOf([0, 1, 1, 0.8], [0, 0, 0], null)).toBe(-0.5);
    expect(valueOf([0, 1, 1, 0], [0, 0, 0], null)).toBe(-1);
    expect(valueOf([1, 0, 1, 1], [0, 0, 0], null)).toBe(-1);
  });

  it("pays sub-answers only while the batch's accuracy is above the last one's less .05", () => {
    // Accuracy of this batch: 1 of 4.
    expect(valueOf([1, 1, 1, 1], [0, 0, 0], 0.29)).toBe(3.5);
    expect(valueOf([1, 1, 1, 1], [0, 0, 0], 0.31)).toBe(3);
  });
});
