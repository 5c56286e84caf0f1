import { describe, expect, it } from "vitest";
import { partSchema } from "../../../src/base/define-part.ts";
import { registry } from "../../../src/base/registry.ts";
import { resolveSchedules } from "../../../src/base/schedule.ts";
import { checkOptions, choice, parseOptions, z } from "../../../src/base/schema.ts";
import { defineReward } from "../../../src/rewards/reward.ts";
import { expressionOf, weightedRewards } from "../../../src/run/assemble.ts";
import { unknownNames } from "../../../src/run/settings/named-things.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { roleName } from "../../../src/trajectory/role.ts";
import "../../helpers/all-parts.ts";

const problemOf = (given: unknown) => checkOptions(settingsSchema, given).problem;

describe("reward settings", () => {
  it("name rewards by alias, and combine them by an expression", () => {
    const settings = settingsSchema.parse({
      rewards: [{ name: "exact-match", as: "em" }, "token-f1"],
      reward: "max(em, token-f1)",
    });
    expect(weightedRewards(settings)).toEqual([
      { name: "exact-match", as: "em", weight: 0, options: {} },
      { name: "token-f1", weight: 0, options: {} },
    ]);
    expect(expressionOf(settings)?.text).toBe("max(em, token-f1)");
    const summed = settingsSchema.parse({
      rewards: ["exact-match", { name: "token-f1", weight: 2 }],
    });
    expect(weightedRewards(summed).map(({ weight }) => weight)).toEqual([1, 2]);
    const beside = settingsSchema.parse({ ...summed, reward: "exact-match" });
    expect(weightedRewards(beside).map(({ weight }) => weight)).toEqual([0, 2]);
  });

  it("add no key where none of them is used", () => {
    const settings = settingsSchema.parse({});
    expect(settings).not.toHaveProperty("reward");
    expect(settings).not.toHaveProperty("models");
    expect(settings.rewards).toEqual([{ name: "exact-match" }]);
    expect(expressionOf(settings)).toBeUndefined();
  });

  it("are refused at load, with the key and the column", () => {
    const problem = problemOf({ rewards: [{ name: "exact-match", as: "em" }], reward: "em + f1" });
    expect(problem).toMatchObject({ code: "PART_UNKNOWN", path: ["reward"] });
    expect(problem?.message).toMatch(/^is "em \+ f1", column 6: .*"f1"/);
    expect(problemOf({ reward: "exact-match +" })?.code).toBe("RECIPE_BAD_VALUE");
    const alias = { rewards: [{ name: "exact-match", as: "a b" }] };
    expect(problemOf(alias)).toMatchObject({ code: "RECIPE_BAD_VALUE", path: ["rewards", "0", "as"] }); // prettier-ignore
  });
});

describe("an option that names a model", () => {
  const asking = (role: unknown, models: object = { reader: { from: "base" } }) =>
    problemOf({ rewards: ["exact-match", { name: "answer-likelihood", role }], models });

  it("may be the policy or a model of the recipe", () => {
    expect(asking("reader")).toBeNull();
    expect(asking("policy")).toBeNull();
    expect(problemOf({ rewards: ["answer-likelihood"] })).toBeNull();
  });

  it("is refused at load otherwise, with the nearest name", () => {
    const problem = asking("raeder");
    expect(problem).toMatchObject({ code: "PART_UNKNOWN", path: ["rewards", "1", "role"] });
    expect(problem?.message).toMatch(/"raeder".*"reader".*policy, reader/);
    expect(asking("reader", {})).toMatchObject({ code: "PART_UNKNOWN" });
  });

  it("is found in the part that the recipe chose, wherever that stands", () => {
    const kind = (name: string, role: z.ZodType) =>
      ({ part: "tool", name, summary: "", options: z.strictObject({ role }) }) as const;
    // Only one of the two declares its role as a model.
    const tools = registry("tool", [kind("asks", roleName()), kind("plays", z.string())]);
    const nested = choice(() => ({ schema: z.strictObject({ tools: z.array(partSchema(tools)) }), value: undefined })); // prettier-ignore
    const schema = z.strictObject({ environment: nested, named: z.record(z.string(), partSchema(tools)).optional() }); // prettier-ignore
    const tool = (name: string, role: string) => ({ name, role });
    const environment = { tools: [tool("plays", "a knight"), tool("asks", "reader")] };
    const named = { one: tool("asks", "policy"), two: tool("asks", "judge") };
    const paths = (models: object) =>
      unknownNames(schema, { environment, named, models } as object).map(({ path }) =>
        path.join("."),
      );
    expect(paths({ reader: {}, judge: {} })).toEqual([]);
    expect(paths({})).toEqual(["environment.tools.1.role", "named.two.role"]);
  });

  it("may be a model of the evaluation set that names it, and of no other", () => {
    const asks = z.strictObject({ role: roleName(), models: z.unknown() });
    const sets = z.record(z.string(), asks);
    const schema = z.strictObject({ evaluation: z.strictObject({ sets }) });
    const set = { role: "judge", models: { judge: {} } };
    const found = unknownNames(schema, {
      evaluation: { sets: { one: set, two: { ...set, models: {} } } },
    });
    expect(found.map(({ path }) => path.join("."))).toEqual(["evaluation.sets.two.role"]);
  });
});

describe("an option that names a reward", () => {
  const crediting = (name: string, more: object = {}) =>
    problemOf({
      rewards: ["exact-match", { name: "tool-outcome", as: "tools", weight: 0.2 }],
      algorithm: { name: "grpo", advantage: { name: "turn-split", turn: [name] } },
      ...more,
    });

  it("may be any reward with a share in the sum, by its name in the recipe", () => {
    expect(crediting("tools")).toBeNull();
    expect(crediting("exact-match")).toBeNull();
  });

  it("is refused at load where there is none, and beside an expression without a weight", () => {
    const path = ["algorithm", "advantage", "turn", "0"];
    const unknown = crediting("tool-outcome");
    expect(unknown).toMatchObject({ code: "PART_UNKNOWN", path });
    expect(unknown?.message).toMatch(/"tool-outcome".*exact-match, tools/);
    expect(crediting("tools", { reward: "exact-match" })).toBeNull();
    expect(crediting("exact-match", { reward: "exact-match" })).toMatchObject({ path });
  });
});

describe("numbers among a part's options", () => {
  const part = defineReward({
    name: "made",
    summary: "For tests.",
    options: z.strictObject({
      words: z.int().min(1).default(5),
      share: z.number().max(1).optional(),
      mode: z.enum(["a", "b"]).default("a"),
    }),
    score: () => 0,
  });
  const schema = partSchema(registry("reward", [part]), {}, { scheduled: true });
  const parse = (given: object) => parseOptions(schema, { name: "made", ...given }, "reward");

  it("may be schedules, whole numbers rounded", () => {
    expect(parse({})).toEqual({ name: "made", words: 5, mode: "a" });
    const words = { schedule: "linear", from: 1, to: 4 };
    const share = { schedule: "steps", values: [{ at: 0, value: 0.5 }] };
    const options = parse({ words, share });
    const at = (step: number) => resolveSchedules(options, step, 5);
    // 1, 1.75, 2.5, 3.25, 4
    expect([0, 1, 2, 3, 4].map((step) => at(step)["words"])).toEqual([1, 2, 3, 3, 4]);
    expect(at(3)).toEqual({ name: "made", words: 3, share: 0.5, mode: "a" });
    // Settings that were written out are read again.
    expect(parse({ words: options["words"] })).toEqual({ name: "made", words: options["words"], mode: "a" }); // prettier-ignore
  });

  it("keep their own limits", () => {
    expect(() => parse({ words: 0 })).toThrow(/words/);
    expect(() => parse({ words: { schedule: "linear", from: 0, to: 4 } })).toThrow(/words\.from/);
    expect(() => parse({ share: { schedule: "constant", value: 2 } })).toThrow(/share\.value/);
    expect(() => parse({ mode: { schedule: "constant", value: 2 } })).toThrow(/mode/);
  });
});

describe("resolveSchedules", () => {
  it("resolves at any depth and leaves everything else as it is", () => {
    const half = parseOptions(z.unknown(), { schedule: "constant", value: 0.5, warmup: 0, unit: "fraction" }, "x"); // prettier-ignore
    const pattern = /a/;
    const given = { a: [half, { b: half }], c: "linear", d: null, e: pattern };
    expect(resolveSchedules(given, 0, 1)).toEqual({ a: [0.5, { b: 0.5 }], c: "linear", d: null, e: pattern }); // prettier-ignore
  });
});
