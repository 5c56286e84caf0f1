import { describe, expect, it } from "vitest";
import {
  type Budget,
  budgetOf,
  budgetsAt,
  budgetsSchema,
  isRunCall,
  largestBudgets,
  observationTokens,
} from "../../src/env/budget.ts";

const turns = { scope: "trajectory", unit: "turns", limit: 4, onExhausted: "final-turn" } as const;
const calls = { scope: "trajectory", unit: "calls", limit: 2, onExhausted: "notice" } as const;
const falling: Budget = {
  ...turns,
  limit: { schedule: "linear", from: 10, to: 2, start: 0, warmup: 0, unit: "fraction" },
};

describe("budgetOf", () => {
  it("gives the budget of a scope, or null", () => {
    expect(budgetOf([turns], "trajectory")).toBe(turns);
    expect(budgetOf([calls, turns], "trajectory")).toBe(turns);
    expect(budgetOf([turns], "context")).toBeNull();
    expect(budgetOf([], "turn")).toBeNull();
  });
});

describe("observationTokens", () => {
  it("is the limit for all tools, else the largest one of a tool", () => {
    const all = { scope: "observation", unit: "tokens", limit: 90, onExhausted: "cut" } as const;
    const search = { ...all, tool: "search", limit: 300 };
    const calculator = { ...all, tool: "calculator", limit: 20 };
    expect(observationTokens([search, all])).toBe(90);
    expect(observationTokens([calculator, search])).toBe(300);
    expect(observationTokens([{ ...all, unit: "words" }, turns])).toBeUndefined();
  });
});

describe("budgetsAt", () => {
  it("takes a schedule's value at the step, its last one outside training, and the largest for plans", () => {
    const limits = [0, 2, 4].map((step) => budgetsAt([falling], { step, totalSteps: 5 })[0]?.limit);
    expect(limits).toEqual([10, 6, 2]);
    expect(budgetsAt([falling], undefined)[0]?.limit).toBe(2);
    expect(largestBudgets([falling])[0]?.limit).toBe(10);
  });
});

describe("budgetsSchema", () => {
  it("allows at each scope only what can happen there, and says what is allowed", () => {
    expect(budgetsSchema.safeParse([turns, calls, { ...calls, tool: "search" }]).success).toBe(
      true,
    );
    for (const wrong of [
      { ...turns, onExhausted: "cut" },
      { ...turns, unit: "tokens" },
      { ...turns, tool: "search" },
      { ...turns, limit: 0 },
      { scope: "context", unit: "tokens", limit: 100, onExhausted: "final-turn" },
      { scope: "context", unit: "tokens", limit: 1, onExhausted: "end" },
      { scope: "observation", unit: "tokens", limit: 100, onExhausted: "end" },
      { scope: "observation", unit: "tokens", limit: 100, onExhausted: "cut", ending: "..." },
      { ...turns, ending: "..." },
    ]) {
      expect(budgetsSchema.safeParse([wrong]).success).toBe(false);
    }
    const { error } = budgetsSchema.safeParse([{ ...turns, onExhausted: "cut" }]);
    expect(error?.issues[0]?.message).toMatch(
      /trajectory: turns \(final-turn, end, forced-answer\)/,
    );
  });

  it("refuses two budgets for one thing", () => {
    expect(
      budgetsSchema.safeParse([turns, { ...turns, limit: 8 }]).error?.issues[0]?.message,
    ).toMatch(/at most one budget for trajectory, turns/);
  });
});

describe("isRunCall", () => {
  it("counts calls that were run, of a tool or of any", () => {
    const observation = { tool: "search", text: "Oslo" };
    expect(isRunCall(observation, null)).toBe(true);
    expect(isRunCall(observation, "calculator")).toBe(false);
    const problem = { code: "bad-arguments", message: "no" };
    expect(isRunCall({ ...observation, problem }, null)).toBe(false);
  });
});
