import { describe, expect, it } from "vitest";
import { RolloutError, ScoreError } from "../../src/base/errors.ts";
import { unwrapped, z } from "../../src/base/schema.ts";
import type { RewardContext } from "../../src/rewards/context.ts";
import { rewards } from "../../src/rewards/index.ts";
import type { Reward, RewardOutcome, Scored } from "../../src/rewards/reward.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { scoreTrajectories } from "../../src/rollout/score.ts";
import type { Role } from "../../src/trajectory/role.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { ruleAccepts, shownIn } from "../helpers/judge-server.ts";
import { localServer, sendJson } from "../helpers/local-server.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import {
  answered,
  passages,
  replay,
  rolloutOptions,
  task,
  tokenizer,
} from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const unanswerable: Task = { ...task, id: "open", references: [] };
const withEvidence: Task = {
  ...task,
  id: "evidence",
  annotations: {
    supportingPassages: ["oslo", "ibsen"],
    context: passages,
    tests: [{ call: "f(1)", value: "1" }],
    parts: [["Oslo"]],
    decomposition: [{ question: "capital of Norway", answer: "Oslo", passage: "oslo" }],
  },
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
  const decomposition = [{ question: "", answer: "Norway", passage: null }];
  const stepped = { ...task, annotations: { ...task.annotations, decomposition } };
  const solved = { task: stepped, trajectory: answered("Oslo", { id: "solved" }) };
  return [...(await Promise.all(played)), ...made, shown, solved];
}

/** Models by any name that do the same. */
function models(
  role: Omit<Role, "name">,
): Pick<RewardContext, "roles" | "logprobs" | "tokenLogprobs"> {
  const { signal } = new AbortController();
  return {
    roles: { names: [], get: (name) => ({ name, ...role }) },
    logprobs: (prompt, text) => role.logprobs(prompt, text, signal),
    tokenLogprobs: async (sequences) =>
      (await role.tokenLogprobs?.(sequences, tokenizer, signal)) ?? sequences.map(() => null),
  };
}

/** The verdict of a rule in the words that a judge's prompt asks for: the accepting one is the first, or the highest grade. */
function judged(prompt: string): string {
  const small = /^Question: Is it true\? Right: (.*) Answer: (.*)\n<answer>$/.exec(prompt);
  if (small !== null) return small[1]!.split(" or ").includes(small[2]!) ? "yes" : "no";
  const words = JSON.parse(`[${/"verdict": one of (.*?)\}/.exec(prompt)?.[1] ?? ""}]`) as string[];
  const isGrade = words.includes("10");
  const isRight = ruleAccepts(shownIn([{ role: "user", content: prompt }]));
  const verdict = isRight === isGrade ? words.at(isGrade ? -1 : 1) : words[0];
  return JSON.stringify({ reason: "By rule.", verdict });
}

/** Judge by a rule, and hold longer prompts for less likely. */
const sound = models({
  complete: (prompt) => Promise.resolve(judged(prompt)),
  logprobs: (prompt, text) =>
    Promise.resolve(tokenizer.encode(text).map((_, i) => -(prompt.length % 7) - i)),
  tokenLogprobs: (sequences) =>
    Promise.resolve(sequences.map(({ ids }) => ids.map((id) => -(id % 7)))),
});

const silent = models({
  complete: () => Promise.resolve(""),
  logprobs: () => Promise.resolve(null),
});

const failed = () => Promise.reject(new RolloutError("HTTP_STATUS", "models.judge: HTTP 503"));
const broken = models({ complete: failed, logprobs: failed, tokenLogprobs: failed });

/** Scores every trajectory 1. */
const server = await localServer((_, response) => {
  sendJson(response, { score: 1 });
});

/** The defaults, with the address of a server and the name of a model where they are needed, and every other value of an option with a fixed choice. */
function settingsOf({ options }: Reward): Record<string, unknown>[] {
  const shape = options.shape as Record<string, z.ZodType>;
  const choices = Object.entries(shape).flatMap(([key, schema]) =>
    unwrapped(schema)
      .flatMap(valuesOf)
      .map((value) => ({ [key]: value })),
  );
  const address = "url" in shape ? { url: server.url } : {};
  const role = "role" in shape ? { role: "judge" } : {};
  return [{}, ...choices].map((each) => ({ ...each, ...address, ...role }));
}

function valuesOf(schema: z.ZodType): unknown[] {
  if (schema instanceof z.ZodBoolean) return [true, false];
  return schema instanceof z.ZodEnum ? schema.options : [];
}

const used = rewards.parts.flatMap((part) =>
  settingsOf(part).map((options) => ({
    part,
    options,
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
      tokenizer,
      roles: sound.roles,
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

  it("gives null, what it gives without models, or an error, where a model is silent or fails", async () => {
    const scored = await cases();
    const usual = await score(scored);
    const refused = (error: unknown): RewardOutcome[] => {
      if (error instanceof ScoreError) return [];
      throw error;
    };
    const results = await score(scored, silent).catch(refused);
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
