import { describe, expect, it } from "vitest";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { dropRepeatedCalls } from "../../../src/synth/steps/repairs.ts";
import { type Trajectory, tokenRows } from "../../../src/trajectory/trajectory.ts";
import { applyStep, candidate } from "../../helpers/drawn-candidates.ts";
import { replay, rolloutOptions } from "../../helpers/search-world.ts";

const OSLO = "<think> so</think><search> Oslo</search>";
const AGAIN = "<think> once more</think><search> the OSLO?</search>";
const PERU = "<search> Peru</search>";
const ANSWER = "<think> so</think><answer> Oslo</answer>";

function played(...messages: string[]): Promise<Trajectory> {
  return rollOut(rolloutOptions({ policy: replay(messages) }));
}

async function repaired(trajectory: Trajectory): Promise<Trajectory | null> {
  const { kept } = await applyStep(dropRepeatedCalls, [candidate("one", { trajectory })]);
  return kept[0]?.trajectory ?? null;
}

/** Ids and owners alone: what was sampled after other text has no log-probabilities left. */
function tokens(trajectory: Trajectory | null) {
  return tokenRows(trajectory ?? { calls: [] }).map(({ ids, owners, calls, callOf }) => {
    return { ids, owners, calls, callOf };
  });
}

describe("a repeated call", () => {
  it.each([
    ["before the answer", [OSLO, AGAIN, ANSWER], [OSLO, ANSWER]],
    ["between others", [OSLO, AGAIN, PERU, ANSWER], [OSLO, PERU, ANSWER]],
    ["after others", [OSLO, PERU, OSLO, ANSWER], [OSLO, PERU, ANSWER]],
    ["several times", [OSLO, AGAIN, PERU, PERU, OSLO, ANSWER], [OSLO, PERU, ANSWER]],
  ])("leaves the tokens of a trajectory that never made it: %s", async (_, written, left) => {
    const [mended, never] = await Promise.all([
      repaired(await played(...written)),
      played(...left),
    ]);
    expect(tokens(mended)).toEqual(tokens(never));
    expect(mended?.turns).toEqual(never.turns);
    expect(mended?.calls.map(({ parent }) => parent)).toEqual(never.calls.map((c) => c.parent));
    expect(mended?.answer).toBe("Oslo");
  });

  it("leaves log-probabilities only where the text before is as it was", async () => {
    const mended = await repaired(await played(OSLO, AGAIN, PERU, ANSWER));
    const sampled = mended?.calls.map(({ completion }) =>
      completion.map((s) => s.logprobs !== null),
    );
    expect(sampled).toEqual([[true], [false], [false]]);
  });

  it("takes what points at it along, and moves what points behind it", async () => {
    const trajectory = await played(OSLO, AGAIN, PERU, ANSWER);
    const mended = await repaired({
      ...trajectory,
      rewards: [
        { name: "whole", value: 1, at: null },
        { name: "first", value: 1, at: { call: 0 } },
        { name: "gone", value: 1, at: { call: 1 } },
        { name: "last", value: 1, at: { call: 3, token: 2 } },
      ],
      hints: [
        { name: "gone", call: 1, text: "x" },
        { name: "stays", call: 2, text: "y" },
      ],
    });
    expect(mended?.rewards.map(({ name, at }) => [name, at])).toEqual([
      ["whole", null],
      ["first", { call: 0 }],
      ["last", { call: 2, token: 2 }],
    ]);
    expect(mended?.hints).toEqual([{ name: "stays", call: 1, text: "y" }]);
  });

  it("drops the trajectory where other lines go on from it", async () => {
    const trajectory = await played(OSLO, OSLO, ANSWER);
    const branch = { ...trajectory.calls[2]!, parent: 1 };
    const branched = { ...trajectory, calls: [...trajectory.calls, branch] };
    const { dropped } = await applyStep(dropRepeatedCalls, [
      candidate("one", { trajectory: branched }),
    ]);
    expect(dropped).toEqual([{ id: "one", reason: "repeat stays" }]);
  });

  it("is none where another tool, or another query, was asked", async () => {
    const trajectory = await played(OSLO, PERU, ANSWER);
    const one = candidate("one", { trajectory });
    const { kept, mended } = await applyStep(dropRepeatedCalls, [one]);
    expect(kept[0]).toBe(one);
    expect(mended).toEqual([]);
  });

  it("changes nothing in what it was given", async () => {
    const trajectory = await played(OSLO, AGAIN, ANSWER);
    const before = structuredClone(trajectory);
    await repaired(trajectory);
    expect(trajectory).toEqual(before);
  });
});
