import { expect, it } from "vitest";
import { isInvalidTurn } from "../../src/trajectory/trajectory.ts";

const problem = { code: "unknown-tool", message: "no such tool" };
const failed = { tool: "serach", text: "There is no such tool.", problem };
const found = { tool: "search", text: "Oslo" };

it("takes a message all of whose calls failed for no valid action", () => {
  expect(isInvalidTurn({ problems: [], observations: [failed] })).toBe(true);
  expect(isInvalidTurn({ problems: [], observations: [failed, found] })).toBe(false);
  expect(isInvalidTurn({ problems: [], observations: [found] })).toBe(false);
  expect(isInvalidTurn({ problems: [], observations: [] })).toBe(false);
  expect(isInvalidTurn({ problems: [problem], observations: [found] })).toBe(true);
});
