import { describe, expect, it } from "vitest";
import { type OnPolicyOptions, lossesOf } from "../../../src/algorithms/algorithm.ts";
import { type ReadyRow, readyRows } from "../../../src/algorithms/batch-rows.ts";
import { grpo } from "../../../src/algorithms/grpo.ts";
import { algorithms } from "../../../src/algorithms/index.ts";
import { partSchema } from "../../../src/base/define-part.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { lintContextOf } from "../../../src/rollout/lint-context.ts";
import { scriptedPolicy, type TokenPolicy } from "../../../src/rollout/policy.ts";
import { openStrategy } from "../../../src/rollout/strategies/named-strategy.ts";
import { policyRows } from "../../../src/algorithms/training-rows.ts";
import { openLint } from "../../../src/trajectory/lint/open-lint.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { listed } from "../../helpers/listed-retriever.ts";
import { rolloutOptions, searchEnvironment, tokenizer } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

/** Searches, and answers in its second message: with what its seed says. */
const policy = scriptedPolicy(tokenizer, ({ turns, seed }) =>
  turns.length === 0
    ? `<search> ${seed % 2 === 0 ? "Oslo" : "the"}</search>`
    : `<answer> ${seed}</answer>`,
);

const grow = (width: number, depth: number, changes: object = {}) =>
  openStrategy({ name: "tree-rollout", width, depth }, "test").runAll(
    rolloutOptions({ policy, id: "r", ...changes }),
  );

/** Writes an answer of LENGTH tokens, of which a call's seed chooses those that it writes; it continues what its prompt ends with. */
const LENGTH = 9;
const counted: number[] = [];
function partwise(): TokenPolicy {
  let start: number | null = null;
  return {
    ...policy,
    complete({ promptIds, seed, maxTokens }) {
      start ??= promptIds.length;
      const [city] = tokenizer.encode(seed % 2 === 0 ? " Oslo" : " the");
      const middle = Array.from({ length: LENGTH - 2 }, () => city!);
      const [opening] = tokenizer.encode("<answer>");
      const [closing] = tokenizer.encode("</answer>");
      const rest = [opening!, ...middle, closing!].slice(promptIds.length - start);
      const ids = rest.slice(0, maxTokens);
      counted.push(ids.length);
      const finish = ids.length < rest.length ? "length" : "stop";
      return Promise.resolve({ ids, logprobs: ids.map(() => -1), finish });
    },
  };
}

/** Violations that the lint finds. */
function lintOf(trajectories: readonly Trajectory[]): unknown {
  const drawn = { environment: searchEnvironment({}), strategy: "tree-rollout", temperature: 1 };
  const reading = {
    textOf: ({ ids }: { ids: readonly number[] }) => tokenizer.decode(ids),
    endIds: tokenizer.endIds,
    vocabSize: tokenizer.vocabSize,
    contextOf: () => lintContextOf(drawn),
  };
  const lint = openLint(reading, { keep: 3 });
  trajectories.forEach((each, i) => lint.line(JSON.parse(JSON.stringify(each)), i + 1));
  return lint.report().violations;
}

describe("tree-rollout by segments of tokens", () => {
  const bySegments = (width: number, depth: number, segmentTokens: number, changes: object = {}) =>
    openStrategy({ name: "tree-rollout", width, depth, segmentTokens }, "test").runAll(
      rolloutOptions({ policy: partwise(), id: "r", ...changes }),
    );

  it("branches in the midst of a message: each segment is a call, and its turn says the whole", async () => {
    counted.length = 0;
    const leaves = await bySegments(2, 2, 3);
    expect(leaves).toHaveLength(4);
    for (const { calls, turns, end } of leaves) {
      expect(calls.map(({ finish, parent }) => [finish, parent])).toEqual([
        ["length", null],
        ["length", 0],
        ["stop", 1],
      ]);
      expect(calls.slice(1).map(({ prompt }) => prompt)).toEqual([[], []]);
      const ids = calls.flatMap(({ completion }) => completion.flatMap((each) => each.ids));
      expect([turns.length, end, ids.length]).toEqual([1, "answered", LENGTH]);
      expect(turns[0]).toMatchObject({ call: 2, text: tokenizer.decode(ids) });
    }
    // 2 segments, 4 segments and 4 rests of 3 tokens: 30, where 4 independent leaves take 36.
    expect(counted.reduce((sum, each) => sum + each)).toBe(30);
    expect(lintOf(leaves)).toEqual([]);
  });

  it("samples at most .6 of the tokens of as many independent leaves, at 8 · 8 · 8", async () => {
    counted.length = 0;
    const leaves = await bySegments(8, 3, 3);
    expect(leaves).toHaveLength(512);
    const sampled = counted.reduce((sum, each) => sum + each);
    expect(sampled).toBe(3 * (8 + 64 + 512));
    expect(sampled / (512 * LENGTH)).toBeLessThan(0.6);
  });

  it("ends a message at its budget, however many segments are left", async () => {
    const budgets = [
      { scope: "turn", unit: "tokens", limit: 5, onExhausted: "cut" },
      { scope: "trajectory", unit: "turns", limit: 1, onExhausted: "end" },
    ];
    const environment = searchEnvironment({ budgets });
    const leaves = await bySegments(2, 3, 3, { environment });
    for (const { calls } of leaves) {
      const lengths = calls.map(({ completion }) => completion.flatMap(({ ids }) => ids).length);
      expect(lengths.slice(0, 2)).toEqual([3, 2]);
    }
  });

  it("is at depth 1 what GRPO trains, to the bit", async () => {
    const leaves = await bySegments(4, 1, LENGTH);
    expect(leaves.map(({ calls }) => calls.length)).toEqual([1, 1, 1, 1]);
    const batch = leaves.map((leaf, i) => ({ ...leaf, reward: [1, 0, 0.5, 1][i]! }));
    const rowsBy = async (advantage: object): Promise<ReadyRow[]> => {
      const algorithm = partSchema(algorithms).parse({ name: "grpo", klCoef: 0, advantage });
      const options = algorithm as unknown as OnPolicyOptions;
      const run = { algorithm: grpo, options, engine: {} as Engine, rewards: [], seed: 1 };
      const losses = lossesOf(grpo, options);
      return (await readyRows(run, 0, batch, { losses, critic: null })).rows;
    };
    const rows = await rowsBy({ name: "tree-sibling" });
    expect(rows).toEqual(await rowsBy({ name: "group" }));
    expect(rows.map(({ trainedTokens }) => trainedTokens)).toEqual([9, 9, 9, 9]);
  });

  it("is refused by a server that keeps the tokens", async () => {
    const server = { role: "policy", takesPrefill: false, open: () => undefined };
    await expect(bySegments(2, 2, 3, { policy: server })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /segmentTokens/),
    );
  });
});

describe("tree-rollout", () => {
  it("makes a leaf of each continuation, named and branched off by place", async () => {
    const leaves = await grow(2, 2);
    expect(leaves.map(({ id, branch }) => [id, branch])).toEqual([
      ["r", undefined],
      ["r.1.1", { of: "r", calls: 1 }],
      ["r.0.1", { of: "r", calls: 0 }],
      ["r.0.1.1.1", { of: "r.0.1", calls: 1 }],
    ]);
    for (const { calls, turns, end, answer } of leaves) {
      expect([calls.length, turns.length, end]).toEqual([2, 2, "answered"]);
      expect(calls.map(({ parent }) => parent)).toEqual([null, 0]);
      expect(answer).not.toBeNull();
    }
    expect(new Set(leaves.map(({ answer }) => answer)).size).toBe(4);
  });

  it("shares the calls before a branch, which one leaf alone trains", async () => {
    const [first, second] = await grow(2, 2);
    expect(second?.calls[0]).toBe(first?.calls[0]);
    const trained = [first!, second!].map((leaf) =>
      policyRows(leaf).map(({ trainedTokens }) => trainedTokens),
    );
    const written = (leaf: typeof first, call: number): number =>
      leaf?.calls[call]?.completion.flatMap(({ ids }) => ids).length ?? 0;
    expect(trained).toEqual([[written(first, 0) + written(first, 1)], [written(second, 1)]]);
  });

  it("plays leaves on to their end after the last branch", async () => {
    const leaves = await grow(3, 1);
    expect(leaves).toHaveLength(3);
    expect(leaves.every(({ end }) => end === "answered")).toBe(true);
  });

  it("gives the same tree for the same seed", async () => {
    expect(await grow(2, 2)).toEqual(await grow(2, 2));
  });

  it("keeps the leaves beside one whose tool fails", async () => {
    const good = listed(["a"]);
    let calls = 0;
    const search: typeof good.search = (...asked) =>
      (calls += 1) === 1 ? Promise.reject(new Error("down")) : good.search(...asked);
    const leaves = await grow(2, 1, { environment: searchEnvironment({}, { ...good, search }) });
    expect(leaves.map(({ end }) => end)).toEqual(["tool-error", "answered"]);
  });
});
