import { describe, expect, it } from "vitest";
import { rewards } from "../../src/rewards/index.ts";
import type { RewardResult, Scored } from "../../src/rewards/reward.ts";
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

function values(results: readonly RewardResult[]): number[] {
  return results.flatMap((result) => {
    if (result === null) return [];
    return typeof result === "number" ? [result] : result.map(({ value }) => value);
  });
}

describe.each(rewards.parts.map((part) => ({ name: part.name, part })))(
  "reward $name",
  ({ part }) => {
    const options = part.options.parse({});

    it("gives one result to each trajectory, null or within its range", async () => {
      const results = await part.score(await cases(), options);
      expect(results).toHaveLength((await cases()).length);
      for (const value of values(results)) {
        expect(value).toBeGreaterThanOrEqual(part.range[0]);
        expect(value).toBeLessThanOrEqual(part.range[1]);
      }
    });

    it("gives the same result twice", async () => {
      const scored = await cases();
      expect(await part.score(scored, options)).toEqual(await part.score(scored, options));
    });

    it.runIf(part.scope === "trajectory")(
      "gives each trajectory alone the same result, where its scope is one",
      async () => {
        const scored = await cases();
        const results = await part.score(scored, options);
        for (const [i, each] of scored.entries()) {
          expect(await part.score([each], options)).toEqual([results[i]]);
        }
      },
    );

    it("scores a policy that wrote nothing", async () => {
      const silent = { task, trajectory: answered(null) };
      expect(await part.score([silent], options)).toHaveLength(1);
      expect(await part.score([], options)).toEqual([]);
    });

    it("does not change what it is given", async () => {
      const scored = await cases();
      const before = structuredClone(scored);
      await part.score(scored, options);
      expect(scored).toEqual(before);
    });

    it("says what it does and where it comes from", () => {
      expect(part.summary).toMatch(/\.$/);
      expect(part.source).not.toBe("");
      expect(part.range[0]).toBeLessThan(part.range[1]);
    });
  },
);
