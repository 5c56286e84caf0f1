import { describe, expect, it } from "vitest";
import { studentRows } from "../../../src/algorithms/student-rows.ts";
import { type RolloutVariant, rollOut } from "../../../src/rollout/roll-out.ts";
import { referenceAnswer } from "../../../src/synth/steps/repairs.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { applyStep, candidate } from "../../helpers/drawn-candidates.ts";
import { replay, rolloutOptions, tokenizer } from "../../helpers/search-world.ts";

const SEARCH = "<think> so</think><search> Oslo</search>";

function played(messages: string[], variant: RolloutVariant = {}): Promise<Trajectory> {
  return rollOut(rolloutOptions({ policy: replay(messages) }), variant);
}

async function repaired(trajectory: Trajectory) {
  const { kept, dropped } = await applyStep(referenceAnswer, [candidate("one", { trajectory })]);
  return { trajectory: kept[0]?.trajectory ?? null, dropped };
}

/** What a student learns, as text. */
function learned(trajectory: Trajectory): string {
  const options = { hints: "learn", drawnWith: { tokenizer }, where: "test" } as const;
  return studentRows(trajectory, { tokenizer }, options)
    .flatMap(({ ids, owners }) => ids.filter((_, i) => owners[i] === "policy"))
    .map((id) => tokenizer.decode([id]))
    .join("");
}

describe("reference-answer", () => {
  it("writes the reference after the drawn searches and the drawn thought", async () => {
    const drawn = await played([SEARCH, "<think> hm</think><answer> Peru</answer>"]);
    const { trajectory } = await repaired(drawn);
    expect(trajectory?.answer).toBe("Oslo");
    expect(trajectory?.turns.at(-1)?.text).toBe("<think> hm</think><answer> Oslo</answer>");
    expect(trajectory?.calls.at(-1)?.completion.map(({ logprobs }) => logprobs)).toEqual([null]);
    expect(trajectory?.calls.slice(0, -1)).toEqual(drawn.calls.slice(0, -1));
    const right = await played([SEARCH, "<think> hm</think><answer> Oslo</answer>"]);
    expect(trajectory && learned(trajectory)).toBe(learned(right));
  });

  it("does not learn an answer's opening that was forced", async () => {
    const forced = { maxTurns: 0, prefill: "<answer>" };
    const { trajectory } = await repaired(await played([" Peru</answer>"], forced));
    const written = trajectory?.calls[0]?.completion.at(-1)?.ids ?? [];
    expect(tokenizer.decode(written)).toBe(" Oslo</answer><|end|>");
    expect(trajectory && learned(trajectory)).toBe(" Oslo</answer><|end|>");
  });

  it("leaves a right answer alone, and drops a trajectory without one", async () => {
    const right = await played(["<answer> Oslo</answer>"]);
    expect((await repaired(right)).trajectory?.calls).toBe(right.calls);
    const none = await repaired(await played([SEARCH, SEARCH], { maxTurns: 1 }));
    expect(none.dropped).toEqual([{ id: "one", reason: "no answer" }]);
  });
});
