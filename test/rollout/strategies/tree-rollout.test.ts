import { describe, expect, it } from "vitest";
import { scriptedPolicy } from "../../../src/rollout/policy.ts";
import { openStrategy } from "../../../src/rollout/strategies/named-strategy.ts";
import { policyRows } from "../../../src/algorithms/training-rows.ts";
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
