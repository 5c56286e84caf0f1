import { describe, expect, it } from "vitest";
import { partSchema } from "../../../src/base/define-part.ts";
import { registry } from "../../../src/base/registry.ts";
import { z } from "../../../src/base/schema.ts";
import { parseRecipe } from "../../../src/run/settings/recipe-file.ts";
import { toYaml } from "../../../src/run/settings/resolved-yaml.ts";
import {
  type Override,
  armOverrides,
  checkSettings,
  claimsBase,
  parseSet,
  recordedSettings,
  resolveSettings,
} from "../../../src/run/settings/settings.ts";
import "../../helpers/all-parts.ts";
import { naming } from "../../helpers/naming.ts";

const RECIPE = parseRecipe(
  `summary: Search helps.
base:
  algorithm: { name: grpo, groupSize: 8, klCoef: 0.001 }
  rewards:
    - { name: exact-match, weight: 1 }
    - token-f1
  protocol: search-r1
  steps: 100
tiers:
  mini:
    steps: 20
    algorithm: { groupSize: 4 }
  paper:
    algorithm: { name: ppo, clip: 0.2 }
claims:
  base:
    mini:
      steps: 60
      algorithm: { klCoef: 0.5 }
  tests:
    - id: kl
      statement: KL does not matter.
      metric: em
      relation: without > 0.5
      arms: [{ name: without, set: { algorithm.klCoef: 0 } }]
      source: none
`,
  "recipes/a.yaml",
);

const algorithms = registry("algorithm", [
  {
    name: "grpo",
    summary: "Group advantages.",
    options: z.object({
      groupSize: z.int().min(2).default(8),
      klCoef: z.number().default(0),
      clipLow: z.number().default(0.2),
    }),
  },
  { name: "ppo", summary: "A critic.", options: z.object({ clip: z.number() }) },
]);
const rewards = registry("reward", [
  { name: "exact-match", summary: "Equal.", options: z.object({}) },
  { name: "token-f1", summary: "Overlap.", options: z.object({}) },
]);
const schema = z.strictObject({
  algorithm: partSchema(algorithms),
  rewards: z.array(partSchema(rewards, { weight: z.number().default(1) })),
  protocol: z.string(),
  steps: z.int(),
  seed: z.int().default(0),
});

function resolve(overrides: readonly Override[] = [], tier: "mini" | "paper" = "mini") {
  return resolveSettings(RECIPE, { tier, overrides });
}

function messageOf(...sets: string[]): string {
  try {
    checkSettings(schema, resolve(sets.map(parseSet)));
  } catch (error) {
    return String(error);
  }
  return "no error";
}

describe("resolveSettings", () => {
  it("lays the tier over the base and flags over both", () => {
    const { settings } = resolve([parseSet("algorithm.klCoef=0"), parseSet("steps=3")]);
    expect(settings).toMatchObject({
      algorithm: { name: "grpo", groupSize: 4, klCoef: 0 },
      steps: 3,
    });
  });

  it("remembers where each value comes from", () => {
    const { origins } = resolve([{ key: "seed", value: 7, origin: "--seed" }]);
    expect(Object.fromEntries(origins)).toMatchInlineSnapshot(`
      {
        "algorithm.groupSize": "recipes/a.yaml:12 (tier mini)",
        "algorithm.klCoef": "recipes/a.yaml:3",
        "algorithm.name": "recipes/a.yaml:3",
        "protocol": "recipes/a.yaml:7",
        "rewards.0.name": "recipes/a.yaml:5",
        "rewards.0.weight": "recipes/a.yaml:5",
        "rewards.1": "recipes/a.yaml:6",
        "seed": "--seed",
        "steps": "recipes/a.yaml:11 (tier mini)",
      }
    `);
  });

  it("drops the options of a part that is replaced by another", () => {
    expect(resolve([], "paper").settings).toMatchObject({ algorithm: { name: "ppo", clip: 0.2 } });
    expect(resolve([], "paper").settings).not.toHaveProperty("algorithm.groupSize");
    const set = resolve([parseSet("algorithm.name=ppo"), parseSet("algorithm.clip=0.1")]);
    expect((set.settings as { algorithm: unknown }).algorithm).toEqual({ name: "ppo", clip: 0.1 });
    expect([...set.origins.keys()].filter((key) => key.startsWith("algorithm"))).toEqual([
      "algorithm.name",
      "algorithm.clip",
    ]);
  });

  it("sets an option of a part that was named in short form", () => {
    const { settings } = resolve([parseSet("rewards.1.weight=0.5")]);
    expect(settings).toMatchObject({ rewards: [{ weight: 1 }, { name: "token-f1", weight: 0.5 }] });
  });

  it("takes a flag's value as it was typed where the setting is text", () => {
    const checked = (...sets: string[]) => checkSettings(schema, resolve(sets.map(parseSet)));
    expect(checked("protocol={question}").settings.protocol).toBe("{question}");
    expect(checked("protocol= 2024").settings.protocol).toBe("2024");
    expect(checked('protocol="a\\tb"').settings.protocol).toBe("a\tb");
    expect(checked("protocol={a}", "protocol={b}").settings.protocol).toBe("{b}");
    expect(checked("protocol={a}").origins.get("protocol")).toBe("--set");
    // Another setting than a flag's is not read again, and no number is text.
    const inFile = [{ key: "protocol", value: [1], origin: "arm a" }];
    expect(() => checkSettings(schema, resolve(inFile))).toThrow(
      /: protocol is \[1\]: expected text/,
    );
    expect(() => checked("steps={a}")).toThrow(/^--set: steps is \{"a":null\}/);
  });

  it("replaces a list whole", () => {
    const { settings, origins } = resolve([parseSet("rewards=[token-f1]")]);
    expect(settings).toMatchObject({ rewards: ["token-f1"] });
    expect([...origins.keys()].filter((key) => key.startsWith("rewards"))).toEqual(["rewards.0"]);
  });

  it("replaces a number by a schedule and a schedule by another", () => {
    const { settings } = resolve([
      parseSet("algorithm.klCoef={ schedule: linear, from: 1, to: 0 }"),
      parseSet("algorithm.klCoef={ schedule: constant, value: 1 }"),
    ]);
    expect(settings).toMatchObject({ algorithm: { klCoef: { schedule: "constant", value: 1 } } });
    expect(settings).not.toHaveProperty("algorithm.klCoef.from");
  });

  it("leaves the recipe as it was", () => {
    const before = structuredClone(RECIPE.base);
    resolve([parseSet("algorithm.klCoef=9"), parseSet("rewards.0.weight=9")]);
    expect(RECIPE.base).toEqual(before);
  });

  it("rejects a position that a list does not have", () => {
    expect(() => resolve([parseSet("rewards.2.weight=1")])).toThrow(
      naming("--set: rewards.2", "2", "0", '"2"'),
    );
    expect(() => resolve([parseSet("rewards.first=1")])).toThrow(/"first"/);
  });

  it("applies an arm of a claim", () => {
    const [claim] = RECIPE.claims.tests;
    const arm = claim?.arms.find(({ name }) => name === "without");
    const { settings, origins } = resolve(
      claim === undefined || arm === undefined
        ? []
        : armOverrides(RECIPE, { tier: "mini", claim, arm }),
    );
    expect(settings).toMatchObject({ algorithm: { klCoef: 0 } });
    expect(origins.get("algorithm.klCoef")).toBe("claim kl, arm without");
  });

  it("gives an arm paperSet in place of set at tier paper alone", () => {
    const [claim] = RECIPE.claims.tests;
    if (claim === undefined) throw new Error("the recipe has a claim");
    const arm = {
      name: "pool",
      set: { "dataset.rows": null },
      paperSet: { "dataset.split": "all" },
      replicate: 0,
    };
    const keys = (tier: "mini" | "paper") =>
      armOverrides(RECIPE, { tier, claim, arm }).map(({ key }) => key);
    expect(keys("mini")).toContain("dataset.rows");
    expect(keys("mini")).not.toContain("dataset.split");
    expect(keys("paper")).toEqual(["dataset.split"]);
    expect(
      armOverrides(RECIPE, { tier: "paper", claim, arm: { ...arm, paperSet: undefined } }),
    ).toMatchObject([{ key: "dataset.rows", value: null }]);
  });

  it("runs the arms with claims.base over the tier, and the recipe without", () => {
    const { settings, origins } = resolve(claimsBase(RECIPE, "mini"));
    expect(settings).toMatchObject({ steps: 60, algorithm: { groupSize: 4, klCoef: 0.5 } });
    expect(origins.get("algorithm.klCoef")).toBe("recipes/a.yaml:19 (claims, tier mini)");
    expect(resolve().settings).toMatchObject({ steps: 20, algorithm: { klCoef: 0.001 } });
    expect(claimsBase(RECIPE, "paper")).toEqual([]);
  });
});

describe("parseSet", () => {
  it("reads values as YAML", () => {
    const values = ["a=4", "a=true", "a=null", "a=[1, x]", "a=search-r1", "a.b=x=y"].map(parseSet);
    expect(values.map(({ value }) => value)).toEqual([4, true, null, [1, "x"], "search-r1", "x=y"]);
    expect(values.at(-1)?.key).toBe("a.b");
  });

  it("asks for key=value", () => {
    expect(() => parseSet("steps")).toThrow(naming("--set", '"steps"'));
  });

  it("reports a value that is not YAML", () => {
    expect(() => parseSet("steps=[1")).toThrow(/^--set steps: is not YAML/);
  });
});

describe("checkSettings", () => {
  it("fills in defaults and says so", () => {
    const { settings, origins } = checkSettings(schema, resolve());
    expect(settings.algorithm).toEqual({ name: "grpo", groupSize: 4, klCoef: 0.001, clipLow: 0.2 });
    expect(origins.get("algorithm.clipLow")).toBe("default");
    expect(origins.get("rewards.1.name")).toBe("recipes/a.yaml:6");
    expect(origins.get("rewards.1.weight")).toBe("default");
    expect(origins.get("seed")).toBe("default");
  });

  it("begins each message with where the value stands", () => {
    expect(messageOf("algorithm.groupSize=x")).toMatch(naming("--set: algorithm.groupSize", '"x"'));
    expect(messageOf("algorithm.groupsize=4")).toMatch(
      naming("--set: algorithm.groupsize", 'Did you mean "groupSize"'),
    );
    expect(messageOf("algorithm.name=gpro")).toMatch(
      naming("--set: algorithm", '"gpro"', 'Did you mean "grpo"'),
    );
    expect(messageOf("algoritm.name=grpo")).toMatch(
      naming("--set: algoritm", 'Did you mean "algorithm"'),
    );
  });

  it("names file and line for a value of the recipe", () => {
    const bad = parseRecipe(
      "summary: x\nbase:\n  algorithm:\n    name: grpo\n    groupSiz: 4\ntiers: { mini: {} }\n",
      "recipes/b.yaml",
    );
    expect(() => checkSettings(schema, resolveSettings(bad, { tier: "mini" }))).toThrow(
      naming("recipes/b.yaml:5: algorithm.groupSiz", 'Did you mean "groupSize"'),
    );
  });
});

describe("toYaml", () => {
  const resolved = checkSettings(schema, resolve([{ key: "seed", value: 7, origin: "--seed" }]));

  it("writes every value with its origin behind it", () => {
    expect(toYaml(resolved, "runs/x")).toMatchInlineSnapshot(`
      "# Resolved from recipes/a.yaml, tier mini. Behind each value: where it comes from.

      name: a
      summary: Search helps.
      base:
        algorithm:
          name: grpo # recipes/a.yaml:3
          groupSize: 4 # recipes/a.yaml:12 (tier mini)
          klCoef: 0.001 # recipes/a.yaml:3
          clipLow: 0.2 # default
        rewards:
          - name: exact-match # recipes/a.yaml:5
            weight: 1 # recipes/a.yaml:5
          - name: token-f1 # recipes/a.yaml:6
            weight: 1 # default
        protocol: search-r1 # recipes/a.yaml:7
        steps: 20 # recipes/a.yaml:11 (tier mini)
        seed: 7 # --seed
      tiers:
        mini: {}
      "
    `);
  });

  it("is a recipe that resolves to the same settings", () => {
    const again = parseRecipe(toYaml(resolved, "runs/x"), "runs/x/recipe.resolved.yaml");
    const { settings } = checkSettings(schema, resolveSettings(again, { tier: "mini" }));
    expect(settings).toEqual(resolved.settings);
  });
});

describe("recordedSettings", () => {
  const read = (base: string) =>
    recordedSettings(
      resolveSettings(parseRecipe(`summary: Old.\nbase:\n${base}tiers: { mini: {} }\n`, "a.yaml"), {
        tier: "mini",
      }),
    ).settings;

  it("moves the budgets of an older version's environment to the top", () => {
    expect(read("  environment: { name: search-qa, budgets: [{ limit: 3 }] }\n")).toEqual({
      environment: { name: "search-qa" },
      budgets: [{ limit: 3 }],
    });
  });

  it("leaves today's settings as they are", () => {
    const today = { environment: "search-qa", budgets: [{ limit: 3 }] };
    expect(read("  environment: search-qa\n  budgets: [{ limit: 3 }]\n")).toEqual(today);
  });
});
