import { setImmediate as immediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import type { Retriever } from "../../src/retrieval/retriever.ts";
import { scriptedPolicy, type TokenPolicy } from "../../src/rollout/policy.ts";
import type { RolloutOptions } from "../../src/rollout/record.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { listed } from "../helpers/listed-retriever.ts";
import {
  corpus,
  rolloutOptions,
  searchEnvironment,
  task,
  tokenizer,
} from "../helpers/search-world.ts";

const budgets = [
  { scope: "trajectory", unit: "turns", limit: 3, onExhausted: "final-turn" },
  { scope: "turn", unit: "tokens", limit: 60, onExhausted: "cut" },
  { scope: "observation", unit: "tokens", limit: 80, onExhausted: "cut" },
];

/** Pieces of all grammars, in any order: most of it is broken. */
const PIECES = [
  ..."<search>|</search>|<answer>|</answer>|<think>|</think>|Search[|Finish[|]|Action 1:".split(
    "|",
  ),
  ..."Observation 1:|Norway|Oslo|capital|The answer is|1. Who?|2. Where is #1?| |\n|. |yes".split(
    "|",
  ),
];

/** Text that is a search in every grammar. */
const SEARCH = "Norway rain\nAction 1: Search[Norway rain]\n<search>Norway rain</search>";
/** And one that is an answer; where an answer was begun already, its end. */
const ANSWER = "So the answer is: Oslo.\nAction 1: Finish[Oslo]\n<answer>Oslo</answer>";

const withLogprobs = (policy: TokenPolicy): TokenPolicy => ({
  ...policy,
  logprobs: (promptIds, ids) =>
    Promise.resolve(ids.map((id, i) => -((id + i + promptIds.length) % 7))),
});

const writing = (text: string, maxPositions?: number): TokenPolicy =>
  withLogprobs(scriptedPolicy(tokenizer, () => text, maxPositions));

/** Writes pieces that follow from the prompt and the seed alone. */
function babbling(): TokenPolicy {
  return withLogprobs(
    scriptedPolicy(tokenizer, ({ promptIds, seed }) => {
      const draw = random(`${seed} ${promptIds.join(" ")}`);
      return Array.from({ length: draw.int(8) }, () => draw.pick(PIECES)).join("");
    }),
  );
}

/** The same policy, whose messages come in another order than they were asked for. */
function reordered(policy: TokenPolicy): TokenPolicy {
  let asked = 0;
  return {
    ...policy,
    async complete(request) {
      const waits = (asked++ * 7) % 5;
      for (let i = 0; i < waits; i++) await immediate();
      return policy.complete(request);
    },
  };
}

/** Counts what a policy is asked. */
function counted(policy: TokenPolicy): { policy: TokenPolicy; asked: () => number } {
  let asked = 0;
  const counting: TokenPolicy = {
    ...policy,
    complete: (request) => {
      asked += 1;
      return policy.complete(request);
    },
    logprobs: (promptIds, ids) => {
      asked += 1;
      return policy.logprobs!(promptIds, ids);
    },
  };
  return { policy: counting, asked: () => asked };
}

/** Fewer messages than by default, where those are many. */
const SMALL: Record<string, object> = {
  "best-of-n": { steps: 2, chains: 3 },
  "tree-search": { steps: 2, expand: 2, lookahead: 1 },
  "self-consistent-actions": { actions: 3 },
  composerag: { reflections: 1, subQuestions: 2 },
  corag: { steps: 3 },
  "self-consistency": { draws: 3 },
};

const parts = strategies.parts.map((part) => ({ name: part.name, part }));

describe.each(parts)("strategy $name", ({ part }) => {
  const run = (
    policy: TokenPolicy,
    changes: Partial<RolloutOptions> = {},
    retriever: Retriever = corpus,
  ): Promise<Trajectory> => {
    const environment = searchEnvironment({ budgets }, retriever);
    const options = rolloutOptions({ policy, environment, purpose: "eval", ...changes });
    return part.run(options, SMALL[part.name]);
  };
  const babble = (seed: number, policy = babbling()): Promise<Trajectory> =>
    run(policy, { seed, id: `t${seed}` });

  it("takes no option that it does not have", () => {
    expect(() => part.options.parse({ surprise: 1 })).toThrow();
    expect(part.options.parse({})).toBeTypeOf("object");
    expect(part.summary.endsWith(".")).toBe(true);
  });

  it("ends with an answer that the policy gives", async () => {
    const policy = scriptedPolicy(tokenizer, ({ promptIds }) =>
      tokenizer.decode([...promptIds]).endsWith("<answer>") ? " Oslo</answer>" : ANSWER,
    );
    const trajectory = await run(withLogprobs(policy));
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
    expect(trajectory.confidence ?? 1).toBe(1);
  });

  it("ends without an answer when the policy writes nothing", async () => {
    const trajectory = await run(writing(""));
    expect(trajectory.answer).toBeNull();
    expect(["no-answer", "turn-limit"]).toContain(trajectory.end);
    expect(trajectory.error).toBeUndefined();
  });

  it("ends whatever the policy writes, with every call on record and in its place", async () => {
    for (let seed = 0; seed < 8; seed++) {
      const { policy, asked } = counted(babbling());
      const { calls, turns, answer, end, error } = await babble(seed, policy);
      expect(error).toBeUndefined();
      expect(answer === null).toBe(end !== "answered");
      expect(calls).toHaveLength(asked());
      expect(calls.length).toBeLessThan(100);
      calls.forEach(({ parent }, i) => {
        expect(parent ?? -1).toBeLessThan(i);
      });
      expect(new Set(turns.map(({ call }) => call)).size).toBe(turns.length);
      for (const { call } of turns) {
        // Nothing here puts text into a message, only before it.
        const owners = calls[call]!.completion.map(({ owner }) => owner);
        expect(owners.filter((owner) => owner === "policy")).toHaveLength(1);
        expect(owners.at(-1)).toBe("policy");
      }
    }
  });

  it("gives the same bytes for the same seed, alone or among others, in whatever order messages come", async () => {
    const seeds = [1, 2, 3, 4];
    const alone: string[] = [];
    for (const seed of seeds) alone.push(JSON.stringify(await babble(seed)));
    const policy = reordered(babbling());
    const together = await Promise.all(seeds.map((seed) => babble(seed, policy)));
    expect(together.map((each) => JSON.stringify(each))).toEqual(alone);
  });

  it("does not look at the gold", async () => {
    const other = {
      ...task,
      references: ["Lima"],
      annotations: { supportingPassages: ["lima"], hops: 9 },
    };
    for (const seed of [1, 2, 3]) {
      const trajectory = await run(babbling(), { seed, id: `t${seed}`, task: other });
      expect(JSON.stringify(trajectory)).toBe(JSON.stringify(await babble(seed)));
    }
  });

  it("stops when it is interrupted, and asks for nothing more", async () => {
    const whole = counted(writing(SEARCH));
    await run(whole.policy);
    const before = run(writing(SEARCH), { signal: AbortSignal.abort(new Error("stop")) });
    await expect(before).rejects.toThrow("stop");
    for (const after of new Set([1, Math.floor(whole.asked() / 2)])) {
      // After its last message there is nothing left to stop.
      if (after < 1 || after >= whole.asked()) continue;
      const interruption = new AbortController();
      const { policy, asked } = counted(writing(SEARCH));
      let underWay = 0;
      const stopping: TokenPolicy = {
        ...policy,
        complete: async (request) => {
          underWay += 1;
          const result = await policy.complete(request);
          if (asked() >= after) interruption.abort(new Error("stop"));
          underWay -= 1;
          return result;
        },
      };
      const { signal } = interruption;
      await expect(run(stopping, { signal })).rejects.toThrow("stop");
      const then = asked();
      await immediate();
      expect(asked()).toBe(then);
      expect(underWay).toBe(0);
    }
  });

  it("ends where a search finds nothing", async () => {
    const trajectory = await run(writing(SEARCH), {}, listed([]));
    expect(trajectory.error).toBeUndefined();
    expect(trajectory.end).not.toBe("cancelled");
  });

  it("ends for want of context where no prompt fits", async () => {
    const trajectory = await run(writing(SEARCH, 8));
    expect(trajectory).toMatchObject({ end: "context-limit", answer: null });
  });

  it("records a search that failed, or never searches", async () => {
    const down: Retriever = { ...corpus, search: () => Promise.reject(new Error("HTTP 503")) };
    const trajectory = await run(writing(SEARCH), {}, down);
    if (part.searches()) {
      expect(trajectory).toMatchObject({
        ...{ end: "tool-error", answer: null },
        error: { boundary: "tool", code: "TOOL_FAILED", message: "tool: HTTP 503" },
      });
    } else {
      expect(trajectory.error).toBeUndefined();
    }
  });

  it("keeps times where there is a clock, and none without", async () => {
    let now = 0;
    const timed = await run(writing(SEARCH), { clock: () => (now += 1) });
    expect(timed.timings?.modelMs).toBeGreaterThan(0);
    expect((await run(writing(SEARCH))).timings).toBeUndefined();
  });
});
