import { describe, expect, it } from "vitest";
import { budgetOf, budgetSchema, type Budget } from "../../src/env/budget.ts";

const turns: Budget = { scope: "trajectory", unit: "turns", limit: 4, onExhausted: "final-turn" };

describe("budgetOf", () => {
  it("gives the budget of a scope, or null", () => {
    expect(budgetOf([turns], "trajectory")).toBe(turns);
    expect(budgetOf([turns], "context")).toBeNull();
    expect(budgetOf([], "turn")).toBeNull();
  });
});

describe("budgetSchema", () => {
  it("allows at each scope only what can happen there", () => {
    expect(budgetSchema.safeParse(turns).success).toBe(true);
    for (const wrong of [
      { ...turns, onExhausted: "cut" },
      { ...turns, unit: "tokens" },
      { ...turns, limit: 0 },
      { scope: "context", unit: "tokens", limit: 100, onExhausted: "final-turn" },
      { scope: "observation", unit: "tokens", limit: 100, onExhausted: "end" },
    ]) {
      expect(budgetSchema.safeParse(wrong).success).toBe(false);
    }
  });
});
