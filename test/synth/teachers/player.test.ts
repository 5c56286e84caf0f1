import { describe, expect, it } from "vitest";
import { budgetsSchema } from "../../../src/env/budget.ts";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { openStrategy } from "../../../src/rollout/strategies/named-strategy.ts";
import { player } from "../../../src/synth/teachers/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import "../../helpers/all-parts.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { scriptedTeacher } from "../../helpers/scripted-teacher.ts";
import { rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";

const budgets = budgetsSchema.parse([
  { scope: "trajectory", unit: "turns", limit: 3, onExhausted: "end" },
]);
const environment = environments
  .get("tool-qa", "test")
  .create({}, { retriever: noneRetriever(), budgets });

async function played(count: number): Promise<{ trajectory: Trajectory; right: boolean }[]> {
  const tasks = await (await openDataset({ name: "arithmetic", questions: count }, "test")).tasks();
  return Promise.all(
    tasks.map(async (task, seed) => {
      const policy = scriptedTeacher(player, environment);
      const trajectory = await rollOut(rolloutOptions({ policy, environment, task, seed }));
      return { trajectory, right: task.references.includes(trajectory.answer ?? "") };
    }),
  );
}

describe("the player teacher", () => {
  it("plays well-formed messages, is seldom right, and calls again after an error", async () => {
    const games = await played(300);
    const turns = games.flatMap(({ trajectory }) => trajectory.turns);
    expect(turns.every(({ problems }) => problems.length === 0)).toBe(true);
    const share = games.filter(({ right }) => right).length / games.length;
    expect(share).toBeGreaterThan(0.1);
    expect(share).toBeLessThan(0.35);
    for (const { trajectory } of games) {
      const failed = trajectory.turns.findIndex(({ observations: [only] }) => only?.problem);
      const next = failed < 0 ? undefined : trajectory.turns[failed + 1];
      if (next !== undefined) expect(next.actions[0]?.tool).toBe("calculator");
    }
  });

  it("plays the same for the same seeds", async () => {
    expect(await played(20)).toEqual(await played(20));
  });

  it("refuses an environment without a player, and strategies with prompts of their own", async () => {
    const search = searchEnvironment();
    expect(() => scriptedTeacher(player, search)).toThrow(
      errorWith("TEACHER_CANNOT_PLAY", '"search-qa"'),
    );
    const options = rolloutOptions({ policy: scriptedTeacher(player, environment), environment });
    await expect(openStrategy("cot", "test").run(options)).rejects.toThrow(
      errorWith("TEACHER_CANNOT_PLAY"),
    );
  });
});
