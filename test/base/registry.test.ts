import { describe, expect, it } from "vitest";
import { nearestName, suggest } from "../../src/base/nearest.ts";
import { registry } from "../../src/base/registry.ts";

const parts = [
  { name: "exact-match", summary: "Equal." },
  { name: "token-f1", summary: "Overlap." },
];

describe("registry", () => {
  it("gives a part by name and keeps the order of the list", () => {
    const rewards = registry("reward", parts);
    expect(rewards.get("token-f1", "rewards[0]").summary).toBe("Overlap.");
    expect(rewards.names).toEqual(["exact-match", "token-f1"]);
  });

  it("answers an unknown name with where it stood, the nearest and all known", () => {
    const get = (): unknown =>
      registry("reward", parts).get("exact_match", "a.yaml: rewards[0].name");
    expect(get).toThrow(expect.objectContaining({ code: "PART_UNKNOWN" }) as Error);
    expect(get).toThrowErrorMatchingInlineSnapshot(
      `[ConfigError: a.yaml: rewards[0].name is "exact_match"; no such reward. Did you mean "exact-match"? Known: exact-match, token-f1.]`,
    );
  });

  it("refuses two parts of one name", () => {
    expect(() => registry("reward", [...parts, ...parts])).toThrow(
      expect.objectContaining({ code: "PART_TWICE" }) as Error,
    );
  });
});

describe("nearestName", () => {
  it("forgives case, separators, swapped and single wrong letters", () => {
    const known = ["groupSize", "klCoef", "grpo", "exact-match"];
    expect(nearestName("group_size", known)).toBe("groupSize");
    expect(nearestName("gpro", known)).toBe("grpo");
    expect(nearestName("EXACT_MATCH", known)).toBe("exact-match");
    expect(nearestName("klCoeff", known)).toBe("klCoef");
  });

  it("stays silent when nothing is close", () => {
    expect(nearestName("temperature", ["grpo", "klCoef"])).toBeNull();
    expect(suggest("x", [])).toBe("There are none.");
  });
});
