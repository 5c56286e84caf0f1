import { describe, expect, it } from "vitest";
import { copiedRun } from "../../../src/experiment/compare/copied-run.ts";
import { madeRun } from "../../helpers/compared-runs.ts";

describe("copiedRun", () => {
  it("answers with the first name in a question, and yes where it begins with a verb", () => {
    const run = madeRun("a", [
      { em: [0], question: "Which is older, Tin Sea or Bergen?", references: ["the Tin Sea"] },
      { em: [0], question: "Were Ada Roth and Jan Kowal born in Oslo?", references: ["no"] },
      { em: [0], question: "Who wrote Tin Sea?", references: ["Ada Roth"] },
      { em: [0], question: "who is it", references: ["It Is"] },
      1,
    ]);
    const { questions, metrics } = copiedRun(run);
    const rows = [...questions.values()].map(({ draws: [draw] }) => [
      draw?.answer,
      draw?.values["em"],
    ]);
    // The last question has no text, so it is left out.
    expect(rows).toEqual([
      ["Tin Sea", 1],
      ["yes", 0],
      ["Tin Sea", 0],
      ["who is it", 0],
    ]);
    // "who is it" holds both words of "It Is": precision 2/3, recall 1.
    expect(questions.get("q3")?.draws[0]?.values["f1"]).toBeCloseTo(0.8, 12);
    expect(metrics).toContain("f1");
  });
});
