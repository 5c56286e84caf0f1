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
  passages,
  rolloutOptions,
  searchEnvironment,
  task,
  tokenizer,
} from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const budgets = [
  { scope: "trajectory", unit: "turns", limit: 3, onExhausted: "final-turn" },
  { scope: "turn", unit: "tokens", limit: 60, onExhausted: "cut" },
  { scope: "observation", unit: "tokens", limit: 80, onExhausted: "cut" },
];

const { protocol } = searchEnvironment();
/** A message in the grammar of the environment's protocol. */
const message = (tool: string, input: string): string =>
  protocol.write({ thought: "", action: { tool, input } }, []);

/** Words and marks of these messages, the grammar's tags, and a few words that strategies ask for. */
function piecesOf(...messages: string[]): string[] {
  const tags = protocol.tags.flatMap(({ name }) => [`<${name}>`, `</${name}>`]);
  const words = messages.flatMap((text) => text.match(/<\/?\w+>|[\w ]+|[^\w]/g) ?? []);
  const asked = ["Norway", "capital", "1. Who?", "2. Where is #1?", "yes", " ", "\n", ". "];
  return [...new Set([...tags, ...words, ...asked])];
}

const withLogprobs = (policy: TokenPolicy): TokenPolicy => ({
  ...policy,
  logprobs: (promptIds, ids) =>
    Promise.resolve(ids.map((id, i) => -((id + i + promptIds.length) % 7))),
});

const writing = (text: string, maxPositions?: number): TokenPolicy =>
  withLogprobs(scriptedPolicy(tokenizer, () => text, maxPositions));

/** Writes pieces in an order that follows from the prompt and the seed alone: most of it is broken. */
function babbler(pieces: readonly string[]): TokenPolicy {
  return withLogprobs(
    scriptedPolicy(tokenizer, ({ promptIds, seed }) => {
      const draw = random(`${seed} ${promptIds.join(" ")}`);
      return Array.from({ length: draw.int(8) }, () => draw.pick(pieces)).join("");
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

/** All but `external`, whose messages a program of its own asks for (test/rollout/external). */
const parts = strategies.parts
  .filter(({ name }) => name !== "external")
  .map((part) => ({ name: part.name, part }));

describe.each(parts)("strategy $name", ({ part }) => {
  const {
    settings,
    search: searching = message("search", "Norway rain"),
    answer: answering = message("answer", "Oslo"),
  } = part.example ?? {};
  const pieces = piecesOf(searching, answering);
  const babbling = (): TokenPolicy => babbler(pieces);
  const run = (
    policy: TokenPolicy,
    changes: Partial<RolloutOptions> = {},
    retriever: Retriever = corpus,
  ): Promise<Trajectory> => {
    const environment = searchEnvironment({ budgets }, retriever);
    const own = { ...task, annotations: { context: passages } };
    const options = rolloutOptions({ policy, environment, purpose: "eval", task: own, ...changes });
    return part.run(options, settings);
  };
  const babble = (seed: number, policy = babbling()): Promise<Trajectory> =>
    run(policy, { seed, id: `t${seed}` });

  it("takes no option that it does not have", () => {
    expect(() => part.options.parse({ surprise: 1 })).toThrow();
    expect(part.options.parse({})).toBeTypeOf("object");
    expect(part.summary.endsWith(".")).toBe(true);
  });

  it("ends with an answer that the policy gives", async () => {
    const whole = message("answer", "Oslo");
    const closing = whole.slice(whole.indexOf("Oslo"));
    const policy = scriptedPolicy(tokenizer, ({ promptIds }) =>
      tokenizer.decode([...promptIds]).endsWith(protocol.answerOpening) ? closing : answering,
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
      annotations: { supportingPassages: ["lima"], hops: 9, context: passages },
    };
    for (const seed of [1, 2, 3]) {
      const trajectory = await run(babbling(), { seed, id: `t${seed}`, task: other });
      expect(JSON.stringify(trajectory)).toBe(JSON.stringify(await babble(seed)));
    }
  });

  it("stops when it is interrupted, and asks for nothing more", async () => {
    const whole = counted(writing(searching));
    await run(whole.policy);
    const before = run(writing(searching), { signal: AbortSignal.abort(new Error("stop")) });
    await expect(before).rejects.toThrow("stop");
    for (const after of new Set([1, Math.floor(whole.asked() / 2)])) {
      // After its last message there is nothing left to stop.
      if (after < 1 || after >= whole.asked()) continue;
      const interruption = new AbortController();
      const { policy, asked } = counted(writing(searching));
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
    const trajectory = await run(writing(searching), {}, listed([]));
    expect(trajectory.error).toBeUndefined();
    expect(trajectory.end).not.toBe("cancelled");
  });

  it("ends for want of context where no prompt fits", async () => {
    const trajectory = await run(writing(searching, 8));
    expect(trajectory).toMatchObject({ end: "context-limit", answer: null });
  });

  it("records a search that failed, or never searches", async () => {
    const down: Retriever = { ...corpus, search: () => Promise.reject(new Error("HTTP 503")) };
    const trajectory = await run(writing(searching), {}, down);
    if (part.searches()) {
      expect(trajectory).toMatchObject({
        end: "tool-error",
        answer: null,
        error: { boundary: "tool", code: "TOOL_FAILED", message: "tool: HTTP 503" },
      });
    } else {
      expect(trajectory.error).toBeUndefined();
    }
  });

  it("keeps times where there is a clock, and none without", async () => {
    let now = 0;
    const timed = await run(writing(searching), { clock: () => (now += 1) });
    expect(timed.timings?.modelMs).toBeGreaterThan(0);
    expect((await run(writing(searching))).timings).toBeUndefined();
  });
});
