import { describe, expect, it } from "vitest";
import { RolloutError } from "../../src/base/errors.ts";
import { unwrapped, z } from "../../src/base/schema.ts";
import type { RewardContext } from "../../src/rewards/context.ts";
import { rewards } from "../../src/rewards/index.ts";
import type { Reward, RewardOutcome, Scored } from "../../src/rewards/reward.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { scoreTrajectories } from "../../src/rollout/score.ts";
import type { Role } from "../../src/trajectory/role.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { answered, replay, rolloutOptions, task, tokenizer } from "../helpers/search-world.ts";

const unanswerable: Task = { ...task, id: "open", references: [] };
const withEvidence: Task = {
  ...task,
  id: "evidence",
  annotations: { supportingPassages: ["oslo", "ibsen"] },
};

/** Real trajectories of every kind of ending, and answers that odd texts make. */
async function cases(): Promise<Scored[]> {
  const scripts = [
    ["<search>capital Norway</search>", "<answer>Oslo</answer>"],
    ["<answer>Lima</answer>"],
    ["", ""],
    ["<search></search>", "hm"],
  ];
  const played = scripts.flatMap((script, i) =>
    [task, unanswerable, withEvidence].map(async (asked): Promise<Scored> => {
      const id = `${asked.id} ${i}`;
      const options = rolloutOptions({ policy: replay(script), id, task: asked });
      return { task: asked, trajectory: await rollOut(options, { maxTurns: 1 }) };
    }),
  );
  const answers = [null, "", " ", "\u0000", "Oslo ".repeat(1000), "the", "yes"];
  const made = answers.map((answer, i) => {
    return { task, trajectory: answered(answer, { id: `made ${i}`, groupId: "made" }) };
  });
  const given = [{ tool: "given", text: "", passageIds: ["lima", "oslo"] }];
  const shown = { task: withEvidence, trajectory: answered("Oslo", { id: "shown", given }) };
  return [...(await Promise.all(played)), ...made, shown];
}

/** Models by any name that do the same. */
function models(role: Omit<Role, "name">): Pick<RewardContext, "roles" | "logprobs"> {
  const { signal } = new AbortController();
  return {
    roles: { names: [], get: (name) => ({ name, ...role }) },
    logprobs: (prompt, text) => role.logprobs(prompt, text, signal),
  };
}

/** Write "yes", and hold longer prompts for less likely. */
const sound = models({
  complete: () => Promise.resolve("yes"),
  logprobs: (prompt, text) =>
    Promise.resolve(tokenizer.encode(text).map((_, i) => -(prompt.length % 7) - i)),
});

const silent = models({
  complete: () => Promise.resolve(""),
  logprobs: () => Promise.resolve(null),
});

const failed = () => Promise.reject(new RolloutError("HTTP_STATUS", "models.judge: HTTP 503"));
const broken = models({ complete: failed, logprobs: failed });

/** The defaults, and every other value of an option with a fixed choice. */
function settingsOf({ options }: Reward): Record<string, unknown>[] {
  const shape = options.shape as Record<string, z.ZodType>;
  const choices = Object.entries(shape).flatMap(([key, schema]) =>
    unwrapped(schema)
      .flatMap(valuesOf)
      .map((value) => ({ [key]: value })),
  );
  return [{}, ...choices];
}

function valuesOf(schema: z.ZodType): unknown[] {
  if (schema instanceof z.ZodBoolean) return [true, false];
  return schema instanceof z.ZodEnum ? schema.options : [];
}

const used = rewards.parts.flatMap((part) =>
  settingsOf(part).map((options) => ({
    ...{ part, options },
    name: [part.name, ...Object.entries(options).flat().map(String)].join(" "),
  })),
);

function valuesIn(result: RewardOutcome | undefined): number[] {
  if (typeof result === "number") return [result];
  if (result == null || result instanceof RolloutError) return [];
  return result.map(({ value }) => value);
}

describe.each(used)("reward $name", ({ part, options }) => {
  const score = (scored: readonly Scored[], given: Partial<RewardContext> = sound) =>
    scoreWith(part, scored, options, rewardContext(given));

  it("gives one result to each trajectory: null or within its range", async () => {
    const scored = await cases();
    const results = await score(scored);
    expect(results).toHaveLength(scored.length);
    for (const result of results) {
      expect(result).not.toBeInstanceOf(RolloutError);
      for (const value of valuesIn(result)) {
        expect(value).toBeGreaterThanOrEqual(part.range[0]);
        expect(value).toBeLessThanOrEqual(part.range[1]);
      }
    }
  });

  it("scores some trajectory", async () => {
    expect((await score(await cases())).some((result) => result !== null)).toBe(true);
  });

  it("gives the same result twice", async () => {
    const scored = await cases();
    expect(await score(scored)).toEqual(await score(scored));
  });

  it.runIf(part.scope === "trajectory")(
    "gives each trajectory alone the same result, where its scope is one",
    async () => {
      const scored = await cases();
      const results = await score(scored);
      for (const [i, each] of scored.entries()) expect(await score([each])).toEqual([results[i]]);
    },
  );

  it("scores a policy that wrote nothing", async () => {
    const wordless = { task, trajectory: answered(null) };
    expect(await score([wordless])).toHaveLength(1);
    expect(await score([])).toEqual([]);
  });

  it("does not change what it is given", async () => {
    const scored = await cases();
    const before = structuredClone(scored);
    await score(scored);
    expect(scored).toEqual(before);
  });

  it("gives values to places that exist", async () => {
    const scored = await cases();
    await scoreTrajectories(scored, [{ name: part.name, weight: 1, options: parsed() }], {
      ...{ tokenizer, roles: sound.roles },
    });
    for (const { trajectory } of scored) {
      for (const { at } of trajectory.rewards) {
        if (at === null) continue;
        const call = trajectory.calls[at.call];
        expect(call).toBeDefined();
        const tokens = call?.completion.reduce((sum, { ids }) => sum + ids.length, 0) ?? 0;
        const { token = 0, endToken = at.token === undefined ? 0 : token + 1 } = at;
        expect(token).toBeGreaterThanOrEqual(0);
        expect(endToken).toBeLessThanOrEqual(tokens);
      }
    }
  });

  it("gives null, or what it gives without models, where a model is silent or fails", async () => {
    const scored = await cases();
    const usual = await score(scored);
    const results = await score(scored, silent);
    expect(results.every((result) => !(result instanceof RolloutError))).toBe(true);
    for (const [i, result] of (await score(scored, broken)).entries())
      if (!(result instanceof RolloutError)) expect([usual[i], null]).toContainEqual(result);
    const weighted = [{ name: part.name, weight: 1, options: parsed() }];
    const unscored = await scoreTrajectories(scored, weighted, { roles: broken.roles });
    for (const { reward, code } of unscored)
      expect({ reward, code }).toEqual({ reward: part.name, code: "HTTP_STATUS" });
    const nulls = scored.filter(({ trajectory }) => trajectory.reward === null).length;
    const failures = unscored.reduce((sum, { trajectories }) => sum + trajectories, 0);
    expect(nulls).toBeGreaterThanOrEqual(failures);
  });

  function parsed(): Record<string, unknown> {
    return part.options.parse(options);
  }
});

describe.each(rewards.parts.map((part) => ({ name: part.name, part })))(
  "reward $name",
  ({ part }) => {
    it("says what it does and where it comes from", () => {
      expect(part.summary).toMatch(/\.$/);
      expect(part.source).not.toBe("");
      expect(part.range[0]).toBeLessThan(part.range[1]);
    });
  },
);
