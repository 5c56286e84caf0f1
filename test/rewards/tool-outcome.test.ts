import { describe, expect, it } from "vitest";
import { toolOutcome } from "../../src/rewards/tool-outcome.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import type { Observation, Turn } from "../../src/trajectory/trajectory.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, replay, rolloutOptions, task } from "../helpers/search-world.ts";

const sound: Observation = { tool: "search", text: "Oslo" };
const failed: Observation = { ...sound, problem: { code: "tool-failed", message: "no answer" } };

function turn(...observations: Observation[]): Turn {
  return { call: 0, text: "", actions: [], problems: [], observations };
}

async function scoreOf(turns: Turn[], per?: string): Promise<unknown> {
  const trajectory = answered("Oslo", { turns });
  const [score] = await scoreWith(toolOutcome, [{ trajectory, task }], per ? { per } : {});
  return score;
}

describe("tool-outcome", () => {
  it("is the share of calls without a problem", async () => {
    expect(await scoreOf([turn(sound, failed), turn(sound), turn(sound), turn()])).toBe(0.75);
    expect(await scoreOf([turn(failed)])).toBe(0);
  });

  it("is 0 where no tool was called", async () => {
    expect(await scoreOf([turn()])).toBe(0);
    expect(await scoreOf([], "turn")).toEqual([]);
  });

  it("gives each turn with calls its own share, where it is asked per turn", async () => {
    const turns = [turn(sound, failed), turn(), turn(sound), turn(failed)];
    expect(await scoreOf(turns, "turn")).toEqual([
      { turn: 0, value: 0.5 },
      { turn: 2, value: 1 },
      { turn: 3, value: 0 },
    ]);
  });

  it("counts a call that the environment refused as failed", async () => {
    const messages = ["<search>capital Norway</search>", "<search></search>", "<answer>Oslo</answer>"]; // prettier-ignore
    const trajectory = await rollOut(rolloutOptions({ policy: replay(messages) }), { maxTurns: 3 });
    const observed = trajectory.turns.flatMap(({ observations }) => observations);
    const failures = observed.filter(({ problem }) => problem !== undefined).length;
    const [score] = await scoreWith(toolOutcome, [{ trajectory, task }]);
    expect(score).toBe((observed.length - failures) / observed.length);
    expect(observed.length).toBeGreaterThan(0);
  });
});
