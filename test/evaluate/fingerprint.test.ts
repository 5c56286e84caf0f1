import { describe, expect, it } from "vitest";
import { fingerprintOf, type ProtocolParts, shortHash } from "../../src/evaluate/fingerprint.ts";

const parts: ProtocolParts = {
  dataset: "d",
  questions: 10,
  retriever: "r",
  topK: { "tools.0.topK": 3 },
  strategy: "agent",
  environment: { name: "e", budgets: [{ limit: 1 }] },
  prompt: "p",
  sampling: { temperature: 0 },
  metrics: "m",
};

describe("fingerprintOf", () => {
  it("gives twelve hexadecimal digits and keeps the parts", () => {
    const { hex, parts: kept } = fingerprintOf(parts);
    expect(hex).toMatch(/^[0-9a-f]{12}$/);
    expect(kept).toEqual(parts);
  });

  it("changes with every part, also deep inside", () => {
    const changed: ProtocolParts[] = [
      parts,
      ...Object.keys(parts).map((key) => ({ ...parts, [key]: "other" })),
      { ...parts, environment: { name: "e", budgets: [{ limit: 2 }] } },
    ];
    expect(new Set(changed.map((each) => fingerprintOf(each).hex)).size).toBe(changed.length);
  });

  it("does not depend on the order of keys, but on that of lists", () => {
    expect(shortHash({ a: 1, b: [1, 2] })).toBe(shortHash({ b: [1, 2], a: 1 }));
    expect(shortHash([1, 2])).not.toBe(shortHash([2, 1]));
  });
});
