import { describe, expect, it } from "vitest";
import { tagShare } from "../../src/rewards/tag-share.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const fields = ["reasoning", ["tool", "answer"]];

async function shareOf(texts: string[], measure: "form" | "pairs"): Promise<unknown> {
  const turn = { call: 0, actions: [], problems: [], observations: [] };
  const trajectory = answered("x", { turns: texts.map((text) => ({ ...turn, text })) });
  return (await scoreWith(tagShare, [{ trajectory, task }], { fields, measure }))[0];
}

const CALL = "<reasoning>\na\n</reasoning>\n<tool>\n{}\n</tool>";
const ANSWER = "<reasoning>a</reasoning><answer>b</answer>";

describe("tag-share", () => {
  it.each([
    ["whole messages", [CALL, ANSWER], 1],
    // .4 of one field of two, .2 for the beginning, .2 that all get.
    ["a thought alone", ["<reasoning>a</reasoning>"], 0.6],
    // .4 of one field of two, .2 for the end, .2 that all get.
    ["an answer alone", ["<answer>b</answer>"], 0.6],
    // Both fields occur, and one is closed: .4 + .2 + .2.
    ["a call that is not closed", ["<reasoning>a</reasoning><tool>{}"], 0.8],
    // No field is closed: .2 for the beginning, .2 that all get.
    ["nothing closed", ["<reasoning>a"], 0.4],
    ["no tag", ["Oslo"], 0.2],
    ["the mean of messages", [CALL, "Oslo"], 0.6],
  ])("measures the form of %s", async (_, texts, expected) => {
    expect(await shareOf(texts, "form")).toBeCloseTo(expected, 12);
  });

  it.each([
    ["each tag once", [CALL, ANSWER], 1],
    // Of reasoning 1 and 1, of tool 1 and 0.
    ["a call that is not closed", ["<reasoning>a</reasoning><tool>{}"], 0.75],
    // Two openings count 0, three -1.
    ["a tag twice", ["<answer>a</answer><answer>b</answer>"], 0],
    ["a tag three times beside a whole message", [ANSWER, "<tool><tool><tool></tool>"], 0.5],
    ["a tag many times", ["<answer>".repeat(9)], 0],
    ["no tag", ["Oslo"], 0],
  ])("measures the pairs of %s", async (_, texts, expected) => {
    expect(await shareOf(texts, "pairs")).toBeCloseTo(expected, 12);
  });

  it("is 0 without a message", async () => {
    expect(await shareOf([], "form")).toBe(0);
  });
});
