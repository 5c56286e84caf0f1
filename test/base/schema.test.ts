import { describe, expect, it } from "vitest";
import { partSchema } from "../../src/base/define-part.ts";
import type { ConfigError } from "../../src/base/errors.ts";
import { registry } from "../../src/base/registry.ts";
import { parseOptions, z } from "../../src/base/schema.ts";
import { naming } from "../helpers/naming.ts";

const algorithms = registry("algorithm", [
  {
    name: "grpo",
    summary: "Group advantages.",
    options: z.object({ groupSize: z.int().min(2).default(8), scale: z.enum(["group", "none"]) }),
  },
  {
    name: "clipped",
    summary: "Two bounds.",
    options: z
      .object({ low: z.number(), high: z.number() })
      .refine(({ low, high }) => low < high, "low must be below high"),
  },
  { name: "reinforce", summary: "Plain policy gradient.", options: z.object({}) },
]);

function messageOf(schema: z.ZodType, value: unknown): string {
  try {
    parseOptions(schema, value, "recipes/a.yaml: top");
  } catch (error) {
    return `${String(error)} [${(error as ConfigError).code}]`;
  }
  return "no error";
}

describe("parseOptions", () => {
  const schema = z.strictObject({
    groupSize: z.int().min(2),
    tools: z.array(z.strictObject({ topK: z.number() })).default([]),
  });

  it("names the nearest key for an unknown one", () => {
    expect(messageOf(schema, { groupSize: 8, tool: [] })).toMatch(
      naming("recipes/a.yaml: top.tool", 'Did you mean "tools"', "[RECIPE_UNKNOWN_KEY]"),
    );
  });

  it("looks for known keys inside lists", () => {
    expect(messageOf(schema, { groupSize: 8, tools: [{ topk: 3 }] })).toMatch(
      naming("recipes/a.yaml: top.tools.0.topk", 'Did you mean "topK"', "[RECIPE_UNKNOWN_KEY]"),
    );
  });

  it("quotes what was found and says what is allowed", () => {
    expect(messageOf(schema, { groupSize: 1 })).toMatch(
      naming("recipes/a.yaml: top.groupSize", "1", "[RECIPE_BAD_VALUE]"),
    );
    expect(messageOf(schema, { groupSize: "8" })).toMatch(
      naming("recipes/a.yaml: top.groupSize", '"8"', "a number", "[RECIPE_BAD_VALUE]"),
    );
    expect(messageOf(schema, {})).toMatch(
      naming("recipes/a.yaml: top.groupSize", "missing", "a number", "[RECIPE_BAD_VALUE]"),
    );
    expect(messageOf(z.enum(["a", "b"]), "c")).toMatch(
      naming("recipes/a.yaml: top", '"c"', '"a"', '"b"', "[RECIPE_BAD_VALUE]"),
    );
  });
});

describe("partSchema", () => {
  const schema = z.strictObject({
    algorithm: partSchema(algorithms),
    rewards: z.array(partSchema(algorithms, { weight: z.number().default(1) })).default([]),
  });

  it("fills in the part's own defaults and keeps the name beside them", () => {
    const settings = parseOptions(schema, { algorithm: { name: "grpo", scale: "none" } }, "x");
    expect(settings).toEqual({
      algorithm: { name: "grpo", groupSize: 8, scale: "none" },
      rewards: [],
    });
  });

  it("reads a name alone as the part with its defaults", () => {
    const settings = parseOptions(schema, { algorithm: "reinforce", rewards: ["reinforce"] }, "x");
    expect(settings).toEqual({
      algorithm: { name: "reinforce" },
      rewards: [{ name: "reinforce", weight: 1 }],
    });
  });

  it("suggests the nearest part", () => {
    expect(messageOf(schema, { algorithm: "gpro" })).toMatch(
      naming("recipes/a.yaml: top.algorithm", '"gpro"', 'Did you mean "grpo"', "[PART_UNKNOWN]"),
    );
  });

  it("reports an unknown option of the part that was named", () => {
    const algorithm = { name: "grpo", scale: "none", groupsize: 4 };
    expect(messageOf(schema, { algorithm })).toMatch(
      naming(
        "recipes/a.yaml: top.algorithm.groupsize",
        'Did you mean "groupSize"',
        "[RECIPE_UNKNOWN_KEY]",
      ),
    );
  });

  it("reports a bad or missing option at its own key", () => {
    expect(messageOf(schema, { algorithm: "grpo" })).toMatch(
      naming("recipes/a.yaml: top.algorithm.scale", '"group"', '"none"', "[RECIPE_BAD_VALUE]"),
    );
    expect(
      messageOf(schema, { algorithm: "reinforce", rewards: [{ name: "reinforce", weight: "a" }] }),
    ).toMatch(naming("recipes/a.yaml: top.rewards.0.weight", '"a"', "[RECIPE_BAD_VALUE]"));
  });

  it("keeps what a part demands of several options together", () => {
    const algorithm = { name: "clipped", low: 2, high: 1 };
    expect(messageOf(schema, { algorithm })).toMatch(
      naming(
        "recipes/a.yaml: top.algorithm",
        '{"name":"clipped","low":2,"high":1}',
        "low must be below high",
        "[RECIPE_BAD_VALUE]",
      ),
    );
  });

  it("types what it gives back", () => {
    const { rewards } = parseOptions(
      schema,
      { algorithm: "reinforce", rewards: ["reinforce"] },
      "x",
    );
    const weights: (number | undefined)[] = rewards.map(({ weight }) => weight);
    expect(weights).toEqual([1]);
  });

  it("asks for a name where there is none", () => {
    expect(messageOf(schema, {})).toMatch(
      naming("recipes/a.yaml: top.algorithm", "{ name: …, options }", "[RECIPE_BAD_VALUE]"),
    );
    expect(messageOf(schema, { algorithm: { groupSize: 4 } })).toMatch(
      naming(
        "recipes/a.yaml: top.algorithm",
        '{"groupSize":4}',
        "{ name: …, options }",
        "[RECIPE_BAD_VALUE]",
      ),
    );
  });
});
