import { describe, expect, it } from "vitest";
import { evidenceRecall } from "../../src/rewards/evidence-recall.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { replay, rolloutOptions, task } from "../helpers/search-world.ts";

const SEARCHES = [
  "<search>composer Grieg</search>",
  "<search>city Bergen rain</search>",
  "<search>composer Grieg</search>",
  "<answer>Oslo</answer>",
];

/** What the messages are given on a question with these gold passages. */
async function scoreOf(gold: string[], messages: string[], per?: string): Promise<unknown> {
  const asked = { ...task, annotations: { supportingPassages: gold } };
  const trajectory = await rollOut(rolloutOptions({ policy: replay(messages) }), { maxTurns: 4 });
  const [score] = await scoreWith(
    evidenceRecall,
    [{ trajectory, task: asked }],
    per ? { per } : {},
  );
  return score;
}

describe("evidence-recall", () => {
  it("is the share of the gold passages that searches showed", async () => {
    expect(await scoreOf(["grieg", "bergen", "ibsen", "oslo"], SEARCHES)).toBe(0.5);
    expect(await scoreOf(["ibsen"], SEARCHES)).toBe(0);
    expect(await scoreOf(["grieg", "bergen"], ["<answer>Oslo</answer>"])).toBe(0);
  });

  it("credits the turn that was the first to show a passage, where it is asked per turn", async () => {
    expect(await scoreOf(["grieg", "bergen"], SEARCHES, "turn")).toEqual([
      { turn: 0, value: 0.5 },
      { turn: 1, value: 0.5 },
      { turn: 2, value: 0 },
    ]);
  });

  it("cannot score a question without gold passages", async () => {
    expect(await scoreOf([], SEARCHES)).toBeNull();
  });
});
