import { describe, expect, it } from "vitest";
import { citationSet } from "../../src/rewards/citation-set.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const SHOWN = ["a", "b", "c", "d"];

async function scoreOf(
  message: string,
  { gold = ["a", "c"], shown = SHOWN, tag = "relevance" }: Partial<Record<string, unknown>> = {},
): Promise<unknown> {
  const trajectory = answered("Oslo", {
    turns: [{ call: 0, text: message, actions: [], problems: [], observations: [] }],
    given: [{ tool: "given", text: "", passageIds: shown as string[] }],
  });
  const of = { ...task, annotations: { supportingPassages: gold as string[] } };
  return (await scoreWith(citationSet, [{ trajectory, task: of }], { tag }))[0];
}

const cites = (list: string): string => `<relevance>${list}</relevance><answer>Oslo</answer>`;

describe("citation-set", () => {
  it.each([
    [1, "exactly the gold passages", "[1, 3]"],
    [1, "in any order and form", "[3],[1]"],
    [0.5, "one of two", "[3]"],
    [0.5, "one beside the gold ones", "[1, 2, 3]"],
    [0.5, "one right and one wrong", "[1, 4]"],
    [0, "wrong ones alone", "[2, 4]"],
    [0, "numbers without a passage", "[0, 5]"],
    [0, "nothing", "[]"],
  ])("is %d for %s", async (value, _, list) => {
    expect(await scoreOf(cites(list))).toBe(value);
  });

  it("reads the last closed block of its tag", async () => {
    expect(await scoreOf(`${cites("[2]")}${cites("[1, 3]")}`)).toBe(1);
    expect(await scoreOf("<relevance>[1, 3]<answer>Oslo</answer>")).toBe(0);
    expect(await scoreOf("<docs>1 3</docs><answer>Oslo</answer>", { tag: "docs" })).toBe(1);
  });

  it("is unknown without gold passages, and where the prompt shows none", async () => {
    expect(await scoreOf(cites("[1]"), { gold: [] })).toBeNull();
    expect(await scoreOf(cites("[1]"), { shown: [] })).toBeNull();
  });
});
