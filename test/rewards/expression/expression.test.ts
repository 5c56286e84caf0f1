import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { NO_HISTORY } from "../../../src/rewards/context.ts";
import { rewardExpression } from "../../../src/rewards/expression/expression.ts";
import { FACTS } from "../../../src/rewards/expression/facts.ts";
import { FUNCTIONS, type LeafValues } from "../../../src/rewards/expression/functions.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { answered } from "../../helpers/search-world.ts";

const LEAVES = ["em", "f1", "hit", "judge"];

function row(values: Record<string, number | null>, changes: Partial<Trajectory> = {}): LeafValues {
  return { trajectory: answered("Oslo", changes), values: new Map(Object.entries(values)) };
}

const turn = { call: 0, text: "x", actions: [], problems: [], observations: [] };
const call = { role: "policy", policyVersion: 0, prompt: [], finish: "stop" as const };
const written = { owner: "policy" as const, ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], logprobs: null };

/** The batch that docs/rewards.md describes. */
const documented: LeafValues[] = [
  row(
    { em: 0, f1: 0.5, hit: 1, judge: null },
    {
      groupId: "a",
      turns: [
        { ...turn, observations: [{ tool: "search", text: "found" }] },
        { ...turn, call: 1, problems: [{ code: "no-action", message: "" }] },
      ],
      calls: [
        { ...call, parent: null, completion: [written] },
        { ...call, parent: 0, completion: [written] },
      ],
    },
  ),
  row({ em: 1, f1: 1, hit: 0, judge: null }, { groupId: "a" }),
  row({ em: 1, f1: 0, hit: 0, judge: null }, { groupId: "b" }),
];

const time = {
  step: 5,
  totalSteps: 11,
  history: { mean: (name: string, back: number) => (name === "em" && back === 1 ? 0.6 : null) },
};

const valueOf = (text: string, batch = documented): number | null | undefined =>
  rewardExpression(text, LEAVES).combine(batch, time)[0];

const docs = readFileSync("docs/rewards.md", "utf8");
const examples = [...docs.matchAll(/^\| `(.+)` \| (-?[\d.]+|unknown) \|$/gm)].map(
  ([, text = "", value = ""]) => ({ text, value: value === "unknown" ? null : Number(value) }),
);

describe("docs/rewards.md", () => {
  it.each(examples)("computes $text as $value", ({ text, value }) => {
    if (value === null) expect(valueOf(text)).toBeNull();
    else expect(valueOf(text)).toBeCloseTo(value, 12);
  });

  it("has an example and a line for every function and fact", () => {
    const all = examples.map(({ text }) => text).join("\n");
    for (const name of Object.keys(FUNCTIONS)) expect(all).toContain(`${name}(`);
    for (const [name, { summary }] of Object.entries(FACTS)) {
      expect(all).toMatch(new RegExp(`\\b${name}\\b`));
      expect(docs).toContain(`| \`${name}\` | ${summary}`);
    }
  });
});

describe("a reward expression", () => {
  it.each([
    ["2 + 3 * 4", 14],
    ["(2 + 3) * 4", 20],
    ["10 - 4 - 3", 3],
    ["12 / 3 / 2", 2],
    // 2 ^ (3 ^ 2)
    ["2 ^ 3 ^ 2", 512],
    ["-2 ^ 2", -4],
    ["2 ^ -1", 0.5],
    ["2 * -3", -6],
    ["1 or 0 and 0", 1],
    ["not 1 == 2", 1],
    ["not 0.3", 0],
    ["1 < 2 and 2 < 3", 1],
    ["1e-2 + .5", 0.51],
    ["1 + 1 == 2", 1],
    ['"a" == "a"', 1],
    ['end != "answered"', 0],
    ["known(1 / 0)", 1],
    ["min(3, 1, 2) + max(4)", 5],
  ])("computes %s as %d", (text, value) => {
    expect(valueOf(text)).toBeCloseTo(value, 12);
  });

  it("keeps hyphens in names, and takes a spaced minus as a difference", () => {
    const leaves = ["exact-match", "token-f1"];
    const batch = [row({ "exact-match": 1, "token-f1": 0.25 })];
    const expression = rewardExpression("exact-match - token-f1", leaves);
    expect(expression.combine(batch, time)).toEqual([0.75]);
    expect(() => rewardExpression("exact-match-token-f1", leaves)).toThrow(
      /spaces around the minus/,
    );
  });

  it("gives null to a trajectory that ended in an error, and leaves it out of its group", () => {
    const error = { boundary: "tool", code: "TOOL_FAILED", message: "HTTP 503" };
    const batch = [row({ em: 1 }), row({ em: 0 }, { error }), row({ em: null })];
    const expression = rewardExpression("group_mean(em)", LEAVES);
    expect(expression.combine(batch, time)).toEqual([1, null, 1]);
  });

  it("gives null to a mean of nothing, and to a last mean at the first step", () => {
    expect(valueOf("group_mean(judge)")).toBeNull();
    expect(valueOf("batch_mean(judge + 1)")).toBeNull();
    const first = { step: 0, totalSteps: 1, history: NO_HISTORY };
    expect(rewardExpression("last_mean(em)", LEAVES).combine(documented, first)[0]).toBeNull();
    expect(rewardExpression("progress", LEAVES).combine(documented, first)[0]).toBe(0);
  });

  it("does not look at what a condition leaves out", () => {
    expect(valueOf("if(0, judge, 1)")).toBe(1);
    expect(valueOf("0 and judge")).toBe(0);
    expect(valueOf("1 or judge")).toBe(1);
    expect(valueOf("judge and 0")).toBeNull();
    expect(valueOf("if(judge, 1, 2)")).toBeNull();
    expect(valueOf("min(1, judge)")).toBeNull();
  });

  it.each([
    ["emm + 1", "PART_UNKNOWN", /column 1: .*"emm".*Did you mean "em"/],
    ["1 + serches", "PART_UNKNOWN", /column 5: .*Did you mean "searches"/],
    ["maximum(em)", "PART_UNKNOWN", /column 1: .*"maximum".*max/],
    ['end == "answerd"', "PART_UNKNOWN", /column 8: .*Did you mean "answered"/],
    ["em +", "RECIPE_BAD_VALUE", /column 5: the expression ends/],
    ["em f1", "RECIPE_BAD_VALUE", /column 4: found "f1"/],
    ["(em", "RECIPE_BAD_VALUE", /column 4: .*expected "\)"/],
    ["min(em f1)", "RECIPE_BAD_VALUE", /column 8: .*expected ","/],
    ["* em", "RECIPE_BAD_VALUE", /column 1: found "\*"/],
    ["em = 1", "RECIPE_BAD_VALUE", /column 4: "="/],
    ["0 < em < 1", "RECIPE_BAD_VALUE", /column 8: .*"and"/],
    ["end + 1", "RECIPE_BAD_VALUE", /column 1: end is text/],
    ["end == 1", "RECIPE_BAD_VALUE", /column 5: .*text with a number/],
    ['"a" + 1', "RECIPE_BAD_VALUE", /column 1: this is text/],
    ["end", "RECIPE_BAD_VALUE", /column 1: end is text/],
    ["min", "RECIPE_BAD_VALUE", /column 1: min is a function/],
    ["min()", "RECIPE_BAD_VALUE", /column 1: min takes at least 1 argument; found 0/],
    ["known(em, f1)", "RECIPE_BAD_VALUE", /column 1: known takes 1 argument; found 2/],
    ["if(em, 1)", "RECIPE_BAD_VALUE", /column 1: if takes at least 3 arguments/],
    ["if(em, 1, f1, 2)", "RECIPE_BAD_VALUE", /column 1: if needs a last value/],
    ["last_mean(em + 1)", "RECIPE_BAD_VALUE", /column 1: last_mean takes the name of a reward/],
    ["", "RECIPE_BAD_VALUE", /column 1: the expression ends/],
  ])("refuses %j", (text, code, message) => {
    expect(() => rewardExpression(text, LEAVES)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error,
    );
  });

  it("refuses two rewards of one name, and a reward that is called like a fact", () => {
    expect(() => rewardExpression("em", ["em", "em"])).toThrow(/two rewards are called "em"/);
    expect(() => rewardExpression("em", ["em", "turns"])).toThrow(/a reward is called "turns"/);
  });
});
