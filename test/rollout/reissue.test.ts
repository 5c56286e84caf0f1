import { describe, expect, it } from "vitest";
import type { TokenPolicy } from "../../src/rollout/policy.ts";
import { errorWith } from "../helpers/error-with.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import { policyRows } from "../../src/algorithms/training-rows.ts";
import {
  readable,
  replay,
  rolloutOptions,
  searchEnvironment,
  tokenizer,
} from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const FIRST = "<search> capital Norway</search>";
const SECOND = "<search> rain</search>";
const ANSWER = "<answer> Oslo</answer>";

describe("an environment that issues its prompt anew", () => {
  const environment = searchEnvironment({ reissue: true });
  const play = (messages: string[]) =>
    rollOut(rolloutOptions({ policy: replay(messages), environment }));

  it("shows the question with all results so far, and nothing of the messages before", async () => {
    const trajectory = await play([FIRST, SECOND, ANSWER]);
    const prompts = trajectory.calls.map(({ parent, prompt }) => {
      expect(parent).toBeNull();
      return tokenizer.decode(prompt.flatMap(({ ids }) => ids));
    });
    const asked = "Question: What is the capital of Norway?\n";
    const oslo = "<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\n</information>\n";
    expect(prompts.slice(0, 2)).toEqual([asked, `${asked}${oslo}`]);
    expect(prompts[2]).toMatch(/Oslo[^]*Bergen is a city/);
    expect(prompts[2]).not.toContain("<search>");
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("trains each message in a row of its own", async () => {
    const rows = policyRows(await play([FIRST, ANSWER]));
    expect(rows).toHaveLength(2);
    const trained = rows.map(({ targets, lossMask }) =>
      tokenizer.decode(targets.filter((_, i) => lossMask[i] === 1)),
    );
    expect(trained).toEqual([FIRST, `${ANSWER}<|end|>`]);
  });

  it("forces the answer when the quota of searches is used up", async () => {
    const budgets = [
      { scope: "trajectory", unit: "calls", limit: 1, onExhausted: "forced-answer" },
    ];
    const forced = searchEnvironment({ reissue: true, budgets });
    const policy = replay([FIRST, " Oslo</answer>"]);
    const trajectory = await rollOut(rolloutOptions({ policy, environment: forced }));
    expect(trajectory.turns[1]?.text).toBe(ANSWER);
    expect(readable(trajectory)).toContain('inserted: "<answer>"');
  });
});

describe("an agent that calls at a probability", () => {
  const budgets = [{ scope: "trajectory", unit: "calls", limit: 1, onExhausted: "final-turn" }];
  const environment = searchEnvironment({ reissue: true, budgets });
  const decided = (probability: number, callAt = 0.5) => {
    const written = replay([" capital Norway</search>", ANSWER]);
    const policy: TokenPolicy = {
      ...written,
      complete: (request) =>
        tokenizer.decode(request.promptIds.slice(-1)) === "<answer>"
          ? replay([" Lima</answer>"]).complete({ ...request, turns: [] })
          : written.complete(request),
      logprobs: (_, ids) => Promise.resolve(ids.map(() => Math.log(probability))),
    };
    const options = rolloutOptions({ policy, environment });
    return strategies.get("agent", "test").run(options, { callAt });
  };

  it("searches from it on, and answers below it", async () => {
    const searched = await decided(0.5);
    expect(searched.turns.map(({ text }) => text)).toEqual([FIRST, ANSWER]);
    const answered = await decided(0.49);
    expect(answered.turns.map(({ text }) => text)).toEqual(["<answer> Lima</answer>"]);
    expect((await decided(0.3, 0.2)).turns).toHaveLength(2);
  });

  it("is refused where one text grows, since it reads whole prompts", async () => {
    const growing = { policy: replay([FIRST, FIRST]), environment: searchEnvironment() };
    const scoring = { ...growing.policy, logprobs: () => Promise.resolve([0]) };
    const run = strategies
      .get("agent", "test")
      .run(rolloutOptions({ ...growing, policy: scoring }), { callAt: 0 });
    await expect(run).rejects.toThrow(errorWith("STRATEGY_UNFIT", "environment.reissue"));
  });
});

describe("an agent whose first message is begun for it", () => {
  it("writes on from the prefill, once", async () => {
    const policy = replay([" capital Norway</search>", ANSWER]);
    const trajectory = await strategies
      .get("agent", "test")
      .run(rolloutOptions({ policy }), { prefill: "<search>" });
    expect(trajectory.turns.map(({ text }) => text)).toEqual([FIRST, ANSWER]);
    expect(trajectory.calls[0]?.completion.map(({ owner }) => owner)).toEqual([
      "inserted",
      "policy",
    ]);
  });
});
