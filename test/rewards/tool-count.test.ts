import { describe, expect, it } from "vitest";
import { toolCount } from "../../src/rewards/tool-count.ts";
import type { Observation, Turn } from "../../src/trajectory/trajectory.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const sound: Observation = { tool: "search", text: "Oslo" };
const failed: Observation = { ...sound, problem: { code: "tool-failed", message: "no answer" } };

function turn(...observations: Observation[]): Turn {
  return { call: 0, text: "", actions: [], problems: [], observations };
}

async function scoreOf(turns: Turn[], options: object = {}): Promise<unknown> {
  const trajectory = answered("Oslo", { turns });
  return (await scoreWith(toolCount, [{ trajectory, task }], { ...options }))[0];
}

describe("tool-count", () => {
  const turns = [turn(sound), turn(), turn(sound, failed), turn()];

  it("gives each turn with calls their number, failed ones too", async () => {
    expect(await scoreOf(turns)).toEqual([
      { turn: 0, value: 1 },
      { turn: 2, value: 2 },
    ]);
    expect(await scoreOf([turn()])).toEqual([]);
  });

  it("counts the calls of earlier turns as well, by option", async () => {
    expect(await scoreOf(turns, { cumulative: true })).toEqual([
      { turn: 0, value: 1 },
      { turn: 2, value: 3 },
    ]);
  });
});
