import { describe, expect, it } from "vitest";
import { registry, withParts } from "../../src/base/registry.ts";
import { nearestName, suggest } from "../../src/base/nearest.ts";

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

describe("a registry whose parts load on demand", () => {
  const onDemand = () => {
    const imported: string[] = [];
    const loaders = parts.map((part) => {
      const load = (): Promise<typeof part> => {
        imported.push(part.name);
        return Promise.resolve(part);
      };
      return [part.name, load] as const;
    });
    return { rewards: registry("reward", Object.fromEntries(loaders)), imported };
  };

  it("knows its names, and loads what is asked for", async () => {
    const { rewards, imported } = onDemand();
    expect(rewards.names).toEqual(["exact-match", "token-f1"]);
    expect((await rewards.load("token-f1", "rewards[0]")).summary).toBe("Overlap.");
    expect(imported).toEqual(["token-f1"]);
    expect(rewards.get("token-f1", "rewards[0]").summary).toBe("Overlap.");
    expect(rewards.loaded).toEqual([parts[1]]);
    expect(await rewards.all()).toEqual(parts);
    expect(rewards.parts).toEqual(parts);
  });

  it("refuses to give a part, or the list, before they are loaded", () => {
    const { rewards } = onDemand();
    const early = expect.objectContaining({ code: "PART_NOT_LOADED" }) as Error;
    expect(() => rewards.get("token-f1", "rewards[0]")).toThrow(early);
    expect(() => rewards.parts).toThrow(early);
    expect(() => rewards.get("token_f1", "rewards[0]")).toThrow(
      expect.objectContaining({ code: "PART_UNKNOWN" }) as Error,
    );
  });

  it("loads what a function reads, and runs it again", async () => {
    const { rewards, imported } = onDemand();
    const both = (): string[] =>
      ["token-f1", "exact-match"].map((name) => rewards.get(name, "rewards").summary);
    expect(await withParts(both)).toEqual(["Overlap.", "Equal."]);
    expect(imported).toEqual(["token-f1", "exact-match"]);
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
