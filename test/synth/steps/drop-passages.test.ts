import { describe, expect, it } from "vitest";
import { studentRows } from "../../../src/algorithms/student-rows.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import { dropPassages } from "../../../src/synth/steps/repairs.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import "../../helpers/all-parts.ts";
import { applyStep, candidate } from "../../helpers/drawn-candidates.ts";
import { readable, replay, rolloutOptions, tokenizer } from "../../helpers/search-world.ts";

const ANSWER = "<think> so</think><answer> Oslo</answer>";

function drawn(strategy: string): Promise<Trajectory> {
  return strategies
    .get(strategy, "test")
    .run(rolloutOptions({ policy: replay([ANSWER]) }), strategy === "rag" ? { thinks: true } : {});
}

async function repaired(trajectory: Trajectory) {
  const { kept, dropped } = await applyStep(dropPassages, [candidate("one", { trajectory })]);
  return { trajectory: kept[0]?.trajectory ?? null, dropped };
}

/** All that a student reads and writes. */
function rowsOf(trajectory: Trajectory | null) {
  const options = { hints: "learn", drawnWith: { tokenizer }, where: "test" } as const;
  return (
    trajectory &&
    studentRows(trajectory, { tokenizer }, options).map(({ ids, owners }) => ({
      text: tokenizer.decode(ids),
      owners: new Set(owners),
    }))
  );
}

describe("drop-passages", () => {
  it("leaves the prompt of a policy that was shown nothing", async () => {
    const searched = await drawn("rag");
    expect(readable(searched)).toContain("<information>");
    const { trajectory } = await repaired(searched);
    expect(rowsOf(trajectory)).toEqual(rowsOf(await drawn("agent")));
    expect(trajectory?.given).toBeUndefined();
    expect(trajectory?.turns).toEqual(searched.turns);
  });

  it("leaves a trajectory without passages alone", async () => {
    const plain = await drawn("agent");
    expect((await repaired(plain)).trajectory?.calls).toBe(plain.calls);
  });

  it("drops a trajectory whose prompt showed only a part of them", async () => {
    const searched = await drawn("rag");
    const given = [{ tool: "search", text: "more than was shown" }];
    const { dropped } = await repaired({ ...searched, given });
    expect(dropped).toEqual([{ id: "one", reason: "passages stay" }]);
  });
});
