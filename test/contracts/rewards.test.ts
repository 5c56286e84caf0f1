import { describe, expect, it } from "vitest";
import { rewards } from "../../src/rewards/index.ts";
import type { RewardOutcome, Scored } from "../../src/rewards/reward.ts";
import { RolloutError } from "../../src/base/errors.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, replay, rolloutOptions, task } from "../helpers/search-world.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";

/** Real trajectories of every kind of ending, and answers that odd texts make. */
async function cases(): Promise<Scored[]> {
  const scripts = [
    ["<search>capital Norway</search>", "<answer>Oslo</answer>"],
    ["<answer>Lima</answer>"],
    ["", ""],
    ["<search></search>", "hm"],
  ];
  const played = scripts.map(async (script, i): Promise<Scored> => {
    const options = rolloutOptions({ policy: replay(script), id: String(i) });
    return { task, trajectory: await rollOut(options, { maxTurns: 1 }) };
  });
  const answers = [null, "", " ", "\u0000", "Oslo ".repeat(1000), "the", "yes"];
  const made = answers.map((answer, i) => {
    return { task, trajectory: answered(answer, { id: `made ${i}`, groupId: "made" }) };
  });
  return [...(await Promise.all(played)), ...made];
}

function values(results: readonly RewardOutcome[]): number[] {
  return results.flatMap((result) => {
    if (result === null || result instanceof RolloutError) return [];
    return typeof result === "number" ? [result] : result.map(({ value }) => value);
  });
}

describe.each(rewards.parts.map((part) => ({ name: part.name, part })))(
  "reward $name",
  ({ part }) => {
    it("gives one result to each trajectory, null or within its range", async () => {
      const results = await scoreWith(part, await cases());
      expect(results).toHaveLength((await cases()).length);
      for (const value of values(results)) {
        expect(value).toBeGreaterThanOrEqual(part.range[0]);
        expect(value).toBeLessThanOrEqual(part.range[1]);
      }
    });

    it("gives the same result twice", async () => {
      const scored = await cases();
      expect(await scoreWith(part, scored)).toEqual(await scoreWith(part, scored));
    });

    it.runIf(part.scope === "trajectory")(
      "gives each trajectory alone the same result, where its scope is one",
      async () => {
        const scored = await cases();
        const results = await scoreWith(part, scored);
        for (const [i, each] of scored.entries()) {
          expect(await scoreWith(part, [each])).toEqual([results[i]]);
        }
      },
    );

    it("scores a policy that wrote nothing", async () => {
      const silent = { task, trajectory: answered(null) };
      expect(await scoreWith(part, [silent])).toHaveLength(1);
      expect(await scoreWith(part, [])).toEqual([]);
    });

    it("does not change what it is given", async () => {
      const scored = await cases();
      const before = structuredClone(scored);
      await scoreWith(part, scored);
      expect(scored).toEqual(before);
    });

    it("says what it does and where it comes from", () => {
      expect(part.summary).toMatch(/\.$/);
      expect(part.source).not.toBe("");
      expect(part.range[0]).toBeLessThan(part.range[1]);
    });
  },
);
