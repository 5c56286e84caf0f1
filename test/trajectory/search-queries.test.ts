import { describe, expect, it } from "vitest";
import { type Turn, searchQueries } from "../../src/trajectory/trajectory.ts";

const turn = (changes: Partial<Turn>): Turn => {
  return { call: 0, text: "", actions: [], problems: [], observations: [], ...changes };
};

describe("searchQueries", () => {
  it("gives the inputs of the searches that were run, over all turns", () => {
    const turns = [
      turn({
        actions: [
          { tool: "calculator", input: "1 + 1" },
          { tool: "search", input: "Oslo" },
        ],
        observations: [
          { tool: "calculator", text: "2" },
          { tool: "search", text: "Oslo is the capital." },
        ],
      }),
      // Asked for in the last turn, where nothing is run any more.
      turn({ actions: [{ tool: "search", input: "Lima" }] }),
      turn({ actions: [{ tool: "answer", input: "Oslo" }] }),
    ];
    expect(searchQueries({ turns })).toEqual(["Oslo"]);
  });
});
