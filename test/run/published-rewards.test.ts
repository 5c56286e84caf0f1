import { describe, expect, it } from "vitest";
import { expressionOf, weightedRewards } from "../../src/run/assemble.ts";
import { NO_HISTORY } from "../../src/rewards/context.ts";
import { rewardExpression } from "../../src/rewards/expression/expression.ts";
import { loadRecipe } from "../../src/run/settings/recipe-file.ts";
import { type Settings, settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { checkSettings, resolveSettings } from "../../src/run/settings/settings.ts";
import { scoreTrajectories } from "../../src/rollout/score.ts";
import { answered, task } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

async function settingsOf(recipe: string): Promise<Settings> {
  const resolved = resolveSettings(await loadRecipe(recipe), { tier: "smoke" });
  return checkSettings(settingsSchema, resolved).settings;
}

/** The combined reward of one trajectory with so many searches under a shipped recipe's `reward:`. */
async function rewardOf(
  recipe: string,
  values: Record<string, number>,
  answer: string | null = "Oslo",
  searches = 0,
): Promise<number | null | undefined> {
  const settings = await settingsOf(recipe);
  const expression = rewardExpression(settings.reward ?? "", Object.keys(values));
  const turns = Array.from({ length: searches }, (_, call) => ({
    call,
    text: "",
    actions: [],
    problems: [],
    observations: [{ tool: "search", text: "" }],
  }));
  const row = { trajectory: answered(answer, { turns }), values: new Map(Object.entries(values)) };
  return expression.combine([row], { step: 0, totalSteps: 1, history: NO_HISTORY })[0];
}

/** 1 for the format, for the answer and for the citations (.5 for an overlap), 10 for all three; 13 is the most. */
describe("ARENA's reward", () => {
  it.each([
    [13, 1, 1, 1],
    [2.5, 1, 1, 0.5],
    [2, 1, 0, 1],
    [1, 1, 0, 0],
    [0, 0, 1, 1],
  ])("is %d for format %d, exact match %d, citations %d", async (value, format, em, cited) => {
    expect(await rewardOf("arena", { format, em, cited })).toBe(value);
  });
});

/** The released code: 1, 1 − .2, .2, .1, 0. */
describe("the empirical study's reward", () => {
  it.each([
    [1, 1, 1, "Oslo"],
    [0.8, 1, 0, "Oslo"],
    [0.2, 0, 1, "Oslo"],
    [0.1, 0, 0, "Oslo"],
    [0, 0, 0, null],
  ])("is %d for exact match %d, format %d, answer %s", async (value, em, format, answer) => {
    expect(await rewardOf("search-r1-empirical", { em, format, hit: 1 }, answer)).toBe(value);
  });
});

/** The answer pays where the least probable token of a query is above β. */
describe("Beta-GRPO's reward", () => {
  it.each([
    [1, 1, 0.41],
    [0, 1, 0.4],
    [0, 0, 0.9],
  ])("is %d for exact match %d with confidence %d, β .4", async (value, em, confidence) => {
    expect(await rewardOf("beta-grpo", { em, confidence })).toBe(value);
  });
});

/** F1 of the answer, less 2 in a wrong format. */
describe("R1-Searcher's second stage", () => {
  it.each([
    [0.8, 0.8, 1],
    [-1.2, 0.8, 0],
    [-2, 0, 0],
  ])("is %d for F1 %d, format %d", async (value, f1, format) => {
    expect(await rewardOf("r1-searcher", { f1, format })).toBeCloseTo(value, 12);
  });
});

/** F1, else a tenth where a refine block holds the answer; nothing without an answer. */
describe("AutoRefine's reward", () => {
  it.each([
    [0.8, 0.8, 1, "Oslo"],
    [0.1, 0, 1, "Oslo"],
    [0, 0, 0, "Oslo"],
    [0, 0, 1, null],
  ])("is %d for F1 %d, hit %d, answer %s", async (value, f1, hit, answer) => {
    expect(await rewardOf("autorefine", { f1, hit }, answer)).toBe(value);
  });
});

/** (F1 + .2 · coverage) · .95^T; the released code has T = 0 for up to two searches, 2 for three, 3 for four. */
describe("InForage's reward", () => {
  it.each([
    [1.2, 1, 1, 2],
    [0.1, 0, 0.5, 1],
    [1.2 * 0.9025, 1, 1, 3],
    [0.5 * 0.857375, 0.5, 0, 4],
  ])("is %d for F1 %d, coverage %d, %d searches", async (value, f1, coverage, searches) => {
    const reward = await rewardOf("inforage", { f1, coverage }, "Oslo", searches);
    expect(reward).toBeCloseTo(value, 12);
  });
});

/** F1 + 1.6 · (gain − redundancy) at each search + .618 · keywords, as the released code has it. */
describe("StepSearch's reward", () => {
  it("is 1 + 1.6 · (.5 − 1) + .618 · .4 for a right answer after one passage of two, seen twice", async () => {
    const passages = ["rain snow", "wind storm"].map((text, i) => ({
      id: `${i}`,
      title: "",
      text,
    }));
    const annotations = {
      supportingPassages: ["0", "1"],
      context: passages,
      decomposition: [
        { question: "mayor of Oslo", answer: "Lund", passage: "0" },
        { question: "birthplace of Ibsen", answer: "Oslo", passage: "1" },
      ],
    };
    const turns = [0, 1].map((call) => ({
      call,
      text: "",
      problems: [],
      actions: [{ tool: "search", input: "mayor Oslo" }],
      observations: [{ tool: "search", text: "Doc 1(Title: ) rain snow", passageIds: ["0"] }],
    }));
    const trajectory = answered("Oslo", { turns });
    const settings = await settingsOf("stepsearch");
    const scored = [{ trajectory, task: { ...task, annotations } }];
    await scoreTrajectories(scored, weightedRewards(settings));
    expect(trajectory.reward).toBeCloseTo(0.4472, 9);
    expect(trajectory.rewards.filter(({ at }) => at !== null)).toMatchObject([
      { name: "step", value: expect.closeTo(0.5, 9) as number, at: { call: 0 } },
      { name: "step", value: -1, at: { call: 1 } },
    ]);
  });
});

/** At each search .3 for a hit, .1 or −.2 for the form, −.1 times the searches so far; at the end 1, .2 or −1. */
describe("MT-PPO's reward", () => {
  const search = "<think> a</think><search> x</search>";
  const answer = (text: string): string => `<think> b</think><answer> ${text}</answer>`;
  const played = async (messages: string[], found: string[]) => {
    const turns = messages.map((text, call) => ({
      call,
      text,
      problems: [],
      actions: [{ tool: "search", input: "x" }],
      observations: found.slice(call, call + 1).map((shown) => ({ tool: "search", text: shown })),
    }));
    const trajectory = answered(messages.at(-1)!.includes("Oslo") ? "Oslo" : "Lima", { turns });
    const settings = await settingsOf("multi-turn-rl-agent-ppo");
    const expression = expressionOf(settings)!;
    await scoreTrajectories([{ trajectory, task }], weightedRewards(settings), { expression });
    return trajectory;
  };

  it.each([
    ["a hit and a right answer", 0.3 + 0.1 - 0.1 + 1, [search, answer("Oslo")], ["Oslo"]],
    ["a miss, then a hit in a wrong form", -0.1 + 0.1 + (0.3 - 0.2 - 0.2) + 1, [search, `so ${search}`, answer("Oslo")], ["Lima", "Oslo"]],
    ["a wrong answer without a search", 0.2, [answer("Lima")], []],
    ["a right answer in a wrong form", -1, ["<answer> Oslo</answer>"], []],
  ])("for %s is %d", async (_, value, messages, found) => {
    expect((await played(messages, found)).reward).toBeCloseTo(value, 12);
  }); // prettier-ignore

  it("keeps each turn's share at its turn, and the outcome as the expression", async () => {
    const { rewards } = await played([search, search, answer("Oslo")], ["Lima", "Oslo"]);
    const at = (call: number) => rewards.filter((each) => each.at?.call === call);
    expect(at(1).map(({ name, value }) => [name, value])).toEqual([
      ["hit", 1],
      ["call-form", 1],
      ["turn-price", 1],
      ["searches-so-far", 2],
    ]);
    expect(rewards.at(-1)).toEqual({ name: "expression", value: 1, at: null });
  });
});
