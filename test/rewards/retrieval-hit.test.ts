import { describe, expect, it } from "vitest";
import { retrievalHit } from "../../src/rewards/retrieval-hit.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { replay, rolloutOptions, task } from "../helpers/search-world.ts";

/** What a policy that writes these messages is given on "What is the capital of Norway?". */
async function scoreOf(...messages: string[]): Promise<unknown> {
  const trajectory = await rollOut(rolloutOptions({ policy: replay(messages) }), { maxTurns: 2 });
  const [score] = await scoreWith(retrievalHit, [{ trajectory, task }]);
  return score;
}

describe("retrieval-hit", () => {
  it("is 1 where a search showed a reference, whatever is answered after it", async () => {
    expect(await scoreOf("<search>capital Norway</search>", "<answer>Lima</answer>")).toBe(1);
    expect(await scoreOf("<search>capital Norway</search>", "I forgot.")).toBe(1);
  });

  it("is 0 for searches that show something else, and for a right answer without a search", async () => {
    expect(await scoreOf("<search>Lima</search>", "<answer>Oslo</answer>")).toBe(0);
    expect(await scoreOf("<answer>Oslo</answer>")).toBe(0);
  });
});
