import { expect, it } from "vitest";
import { errorWith } from "../helpers/error-with.ts";
import { protocolLeaves } from "../../src/evaluate/protocol-leaves.ts";
import { byProtocol, protocolDifferences } from "../../src/view/same-protocol.ts";

it("names budgets by scope and unit, and parts of a list by their names", () => {
  const turn = { scope: "turn", unit: "tokens" };
  const tools = [{ name: "bm25-search", topK: 3 }, "calculator"];
  expect(protocolLeaves({ budgets: [{ ...turn, limit: 48 }], tools })).toEqual([
    ["budgets.turn-tokens.limit", "48"],
    ["tools.0.name", "bm25-search"],
    ["tools.0.topK", "3"],
    ["tools.1", "calculator"],
  ]);
  const context = { scope: "context", unit: "tokens", limit: 500 };
  const found = protocolDifferences([
    { budgets: [{ ...turn, limit: 48 }, context] },
    { budgets: [context, { ...turn, limit: 300 }] },
  ]);
  expect(found).toEqual([{ key: "budgets.turn-tokens.limit", values: ["48", "300"] }]);
});

it("keeps the positions of two budgets of one name", () => {
  const twice = { scope: "turn", unit: "tokens", limit: 48 };
  expect(protocolLeaves([twice, twice]).map(([key]) => key)).toContain("1.limit");
});

it("keeps results together that differ only in named parts, and refuses a name that is no part", () => {
  const measured = (fingerprint: string, strategy: string, topK: number) => ({
    results: { fingerprint, protocol: { strategy, topK } },
  });
  const files = [measured("a", "agent", 3), measured("b", "rag", 3), measured("c", "rag", 5)];
  const fingerprints = (across?: string[]): string[][] =>
    byProtocol(files, across).map(({ of }) => of.map(({ results }) => results.fingerprint));
  expect(fingerprints()).toEqual([["a"], ["b"], ["c"]]);
  expect(fingerprints(["strategy"])).toEqual([["a", "b"], ["c"]]);
  expect(fingerprints(["strategy", "topK"])).toEqual([["a", "b", "c"]]);
  expect(() => byProtocol(files, ["strategi"])).toThrow(
    errorWith("USAGE", /"strategi".*strategy/s),
  );
});
