import { describe, expect, it } from "vitest";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { stepPairs } from "../../../src/synth/steps/pairs.ts";
import type { Candidate } from "../../../src/trajectory/sample.ts";
import { applyStep, candidate } from "../../helpers/drawn-candidates.ts";
import { replay, rolloutOptions } from "../../helpers/search-world.ts";

/** A real rollout of a script. */
async function played(id: string, reward: number, ...script: string[]): Promise<Candidate> {
  const trajectory = await rollOut(rolloutOptions({ policy: replay(script), id }));
  return candidate(id, { reward, trajectory });
}

async function pairsOf(draws: readonly Candidate[], options: object = {}) {
  const result = await applyStep(stepPairs, draws, { ...options });
  expect(result.kept).toEqual(draws);
  return (result.pairs ?? []).map(({ chosen, rejected, ...rest }) => {
    const said = (of: Candidate) => of.trajectory.turns[rest.fromTurn ?? -1]?.text;
    return { ...rest, chosen: said(chosen), rejected: said(rejected) };
  });
}

const good = "<search>capital Norway</search>";
const poor = "<search>rain</search>";
const right = "<answer>Oslo</answer>";
const wrong = "<answer>Lima</answer>";

describe("step-pairs", () => {
  it("pairs the best with the worst action of each state, by the mean reward behind them", async () => {
    const draws = [
      await played("a", 1, good, right),
      await played("b", 0, good, wrong),
      await played("c", 0, poor, wrong),
      await played("d", 1, good, right),
    ];
    // First messages: good 2/3, poor 0. After good: right 1, wrong 0. After poor: one action alone.
    expect(await pairsOf(draws)).toEqual(
      [
        { id: "a>c@0", fromTurn: 0, turns: 1, chosen: good, rejected: poor, margin: 2 / 3 },
        { id: "a>b@1", fromTurn: 1, turns: 1, chosen: right, rejected: wrong, margin: 1 },
      ].map((pair) => ({ ...pair, id: expect.stringMatching(/^[ad]>[bc]@\d$/) as string })),
    );
  });

  it("never compares what was said after different beginnings", async () => {
    const draws = [await played("a", 1, good, right), await played("b", 0, poor, wrong)];
    const pairs = await pairsOf(draws);
    expect(pairs.map(({ fromTurn }) => fromTurn)).toEqual([0]);
  });

  it("tells states apart by tokens where their text is the same", async () => {
    const draws = [await played("a", 1, good, right), await played("b", 0, good, wrong)];
    expect((await pairsOf(draws)).map(({ fromTurn }) => fromTurn)).toEqual([1]);
    // The same first message, its first token halved.
    const [b] = structuredClone(draws.slice(1));
    const message = b!.trajectory.calls[0]!.completion[0]!;
    message.ids = [...message.ids.slice(0, 1), 11, ...message.ids.slice(1)];
    expect(await pairsOf([draws[0]!, b!])).toEqual([]);
  });

  it("compares texts where a server has the tokens", async () => {
    const asText = (from: Candidate): Candidate => {
      const copy = structuredClone(from);
      for (const { prompt, completion } of copy.trajectory.calls)
        for (const segment of [...prompt, ...completion]) {
          segment.text = segment.ids.join(" ");
          segment.ids = [];
        }
      return copy;
    };
    const draws = [
      await played("a", 1, good, right),
      await played("b", 0, good, wrong),
      await played("c", 0, poor, wrong),
    ].map(asText);
    expect((await pairsOf(draws)).map(({ id }) => id)).toEqual(["a>c@0", "a>b@1"]);
  });

  it("leaves drafts out, and draws without a reward", async () => {
    const a = await played("a", 1, good, right);
    const b = await played("b", 0, poor, right);
    for (const turn of b.trajectory.turns) turn.chain = "draft";
    expect(await pairsOf([a, b])).toEqual([]);
    const unscored = await played("c", 0, poor, right);
    unscored.trajectory.reward = null;
    expect(await pairsOf([a, unscored])).toEqual([]);
  });

  it("asks for a margin and for enough draws behind an action", async () => {
    const draws = [
      await played("a", 1, good, right),
      await played("b", 0, good, right),
      await played("c", 0, poor, wrong),
    ];
    const first = { id: expect.any(String) as string, fromTurn: 0, turns: 1, chosen: good };
    expect(await pairsOf(draws)).toEqual([{ ...first, rejected: poor, margin: 0.5 }]);
    expect(await pairsOf(draws, { leastMargin: 0.6 })).toEqual([]);
    expect(await pairsOf(draws, { leastDraws: 2 })).toEqual([]);
  });
});
