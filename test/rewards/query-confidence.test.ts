import { describe, expect, it } from "vitest";
import type { RewardContext } from "../../src/rewards/context.ts";
import { queryConfidence } from "../../src/rewards/query-confidence.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { replay, rolloutOptions, task } from "../helpers/search-world.ts";

/** Scores the messages; each character of a query was sampled with the probability that its text is given. */
async function scoreOf(messages: string[], probabilities: Record<string, number[]>) {
  const trajectory = await rollOut(rolloutOptions({ policy: replay(messages) }), { maxTurns: 4 });
  const asked: string[] = [];
  const sampled: RewardContext["sampled"] = ({ turns }, turn, [from, to]) => {
    const query = turns[turn]?.text.slice(from, to) ?? "";
    asked.push(query);
    return probabilities[query]?.map(Math.log) ?? null;
  };
  const context = rewardContext({ sampled });
  const [score] = await scoreWith(queryConfidence, [{ trajectory, task }], {}, context);
  return { score, asked };
}

describe("query-confidence", () => {
  it("is the smallest probability of a token over all queries", async () => {
    const found = await scoreOf(
      [
        "<search>composer Grieg</search>",
        "<search> city Bergen </search>",
        "<answer>Oslo</answer>",
      ],
      { "composer Grieg": [0.9, 0.3], "city Bergen": [0.5, 0.8] },
    );
    expect(found.score).toBeCloseTo(0.3, 12);
    expect(found.asked).toEqual(["composer Grieg", "city Bergen"]);
  });

  it("looks at the query, not at the same words in the thought before it", async () => {
    const message = "<think>Oslo, so Oslo</think><search>Oslo</search>";
    const trajectory = await rollOut(rolloutOptions({ policy: replay([message]) }), {
      maxTurns: 2,
    });
    const spans: (readonly [number, number])[] = [];
    const context = rewardContext({
      sampled: (_, __, span) => {
        spans.push(span);
        return [Math.log(0.5)];
      },
    });
    await scoreWith(queryConfidence, [{ trajectory, task }], {}, context);
    expect(spans[0]).toEqual([message.lastIndexOf("Oslo"), message.lastIndexOf("Oslo") + 4]);
  });

  it("is 1 without a search, and unknown where a query's sampling is not on record", async () => {
    expect((await scoreOf(["<answer>Oslo</answer>"], {})).score).toBe(1);
    const half = ["<search>composer Grieg</search>", "<search>city</search>"];
    expect((await scoreOf(half, { city: [0.5] })).score).toBeNull();
  });

  it("is unknown where the message spells the query differently, as JSON does with quotes", async () => {
    const trajectory = await rollOut(
      rolloutOptions({ policy: replay(["<search>Oslo</search>", "<answer>Oslo</answer>"]) }),
      { maxTurns: 2 },
    );
    const [turn] = trajectory.turns;
    expect(turn?.actions).toHaveLength(1);
    const escaped = { ...trajectory, turns: structuredClone(trajectory.turns) };
    const [first] = escaped.turns;
    if (first !== undefined) first.actions = [{ tool: "search", input: 'the "Oslo" song' }];
    const context = rewardContext({ sampled: () => [Math.log(0.5)] });
    const scored = [
      { trajectory, task },
      { trajectory: escaped, task },
    ];
    const [asWritten, spelled] = await scoreWith(queryConfidence, scored, {}, context);
    expect(asWritten).toBeCloseTo(0.5, 12);
    expect(spelled).toBeNull();
  });
});
