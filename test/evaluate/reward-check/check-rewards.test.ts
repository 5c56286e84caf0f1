import { describe, expect, it } from "vitest";
import { registry } from "../../../src/base/registry.ts";
import { checkRewards, goldRetriever } from "../../../src/evaluate/reward-check/check-rewards.ts";
import { canAnswer } from "../../../src/evaluate/reward-check/scripts.ts";
import { protocols } from "../../../src/env/protocols/index.ts";
import {
  answerExpectations,
  REWARD_CASES,
  type RewardExpectations,
} from "../../../src/rewards/expectations.ts";
import { rewards } from "../../../src/rewards/index.ts";
import { defineReward, type Scored } from "../../../src/rewards/reward.ts";
import { rewardExpression } from "../../../src/rewards/expression/expression.ts";
import type { WeightedReward } from "../../../src/rollout/score.ts";
import { openNamedDataset } from "../../../src/run/assemble.ts";
import { checkRecipeRewards, requireSoundRewards } from "../../../src/run/check-rewards.ts";
import { resolveRecipe } from "../../../src/run/settings/resolve-recipe.ts";
import { openRoles } from "../../../src/run/roles.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { rewardCheckBlocks } from "../../../src/view/documents/checks.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { coverExactMatch, exactMatch } from "../../../src/text/answers.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { searchEnvironment } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const tasks: Task[] = [
  ["capital", "What is the capital of Norway?", ["Oslo", "the city of Oslo"]],
  ["composer", "Who composed Peer Gynt, Edvard Grieg or Ibsen?", ["Edvard Grieg"]],
  ["rain", "Does it rain in Bergen?", ["yes"]],
].map(([id, question, references]) => {
  return { id, question, references, source: "test", annotations: {} } as Task;
});

/** Room for the longest script, and four turns. */
const budgets = [
  { scope: "trajectory", unit: "turns", limit: 4, onExhausted: "final-turn" },
  { scope: "turn", unit: "tokens", limit: 100_000, onExhausted: "cut" },
];
const environmentOf = (protocol: string) =>
  searchEnvironment({ protocol, budgets }, goldRetriever());
const signal = new AbortController().signal;

/** Checks a reward that gives what a function says and declares what it is told. */
async function checked(
  score: (scored: Scored) => number | null,
  expects: RewardExpectations = answerExpectations(),
) {
  const part = defineReward({
    name: "made",
    summary: "For tests.",
    range: [0, 1],
    kind: "answer",
    expects,
    score,
  });
  const found = await checkRewards({
    environment: environmentOf("search-r1"),
    tasks,
    signal,
    rewards: [{ name: "made", weight: 1, options: {} }],
    registry: registry("reward", [part]),
  });
  const wrong = found.rewards[0]?.cases.filter(({ ok }) => !ok).map((each) => each.case);
  return { ...found, wrong };
}

const matches = ({ trajectory: { answer }, task }: Scored): number =>
  answer === null ? 0 : exactMatch(answer, task.references);

describe("checkRewards", () => {
  // Those that must be told which model or server to ask have tests of their own.
  const alone = rewards.parts.filter(({ options }) => options.safeParse({}).success);

  it.each(alone.flatMap(({ name }) => protocols.names.map((protocol) => ({ name, protocol }))))(
    "finds that $name keeps to what it declares under $protocol",
    async ({ name, protocol }) => {
      const environment = environmentOf(protocol);
      expect(canAnswer(environment)).toBe(true);
      const found = await checkRewards({
        environment,
        tasks,
        signal,
        rewards: [{ name, weight: 1, options: rewards.get(name, "test").options.parse({}) }],
        scoring: { roles: openRoles(settingsSchema.parse({})) },
      });
      expect(found.rewards[0]?.cases.filter(({ ok }) => !ok)).toEqual([]);
      expect(found.notWritten).toEqual([]);
      expect(found.rewards[0]?.cases.map((each) => each.case)).toEqual(Object.keys(REWARD_CASES));
      // 18 cases for each question and a golden one for each of its answers.
      expect(found).toMatchObject({ ok: true, questions: 3, trajectories: 3 * 18 + 4 });
    },
  );

  it("finds accepted answers after a search where the environment opens the thought", async () => {
    const protocol = { name: "hermes", thoughtTag: "think", opensThought: true };
    const environment = searchEnvironment({ protocol, budgets }, goldRetriever());
    const rewards = [{ name: "exact-match", weight: 1, options: {} }];
    const found = await checkRewards({ environment, tasks, signal, rewards });
    expect(found.rewards[0]?.cases.filter(({ ok }) => !ok)).toEqual([]);
  });

  it.each(["7 September 1993", "7", "%"])(
    "garbles an answer that shares nothing with %j",
    async (reference) => {
      const task = { ...tasks[0]!, id: "number", references: [reference] };
      const found = await checkRewards({
        environment: environmentOf("search-r1"),
        tasks: [task, tasks[1]!],
        signal,
        rewards: [{ name: "token-f1", weight: 1, options: {} }],
      });
      const garbled = found.rewards[0]?.cases.find((each) => each.case === "garbled");
      expect(garbled).toMatchObject({ got: [0, 0], ok: true });
    },
  );

  it("finds a reward that is always 0: golden answers earn nothing", async () => {
    const found = await checked(() => 0);
    expect(found).toMatchObject({
      ok: false,
      wrong: ["golden", "golden-after-search", "tag-in-think"],
      withoutAnswering: null,
    });
    expect(found.rewards[0]?.cases[0]).toEqual({
      case: "golden",
      expected: "1",
      got: [0, 0],
      ok: false,
      failed: { question: "capital", value: 0, answer: "Oslo" },
    });
  });

  it("finds a reward that any answer earns, and how much is had without knowing it", async () => {
    const found = await checked(({ trajectory }) => (trajectory.answer === null ? 0 : 1));
    expect(found.wrong).toEqual(expect.arrayContaining(["empty-answer", "garbled", "wrong"]));
    expect(found.wrong).not.toContain("silent");
    expect(found.withoutAnswering?.share).toBe(1);
  });

  it("finds rewards that pay for answers stuffed with candidates", async () => {
    const covers = ({ trajectory: { answer }, task }: Scored): number =>
      answer === null ? 0 : coverExactMatch(answer, task.references);
    const { wrong } = await checked(covers);
    expect(wrong).toEqual(expect.arrayContaining(["alternatives", "candidates", "very-long"]));
    const declared = answerExpectations({
      alternatives: 1,
      candidates: 1,
      repeated: 1,
      "very-long": 1,
      "question-as-answer": { from: 0, below: 1.1 },
    });
    expect((await checked(covers, declared)).wrong).toEqual([]);
  });

  it("finds a reward that reads the answer from the observation", async () => {
    const { wrong } = await checked((scored) => {
      const seen = scored.trajectory.turns.flatMap(({ observations }) => observations);
      const texts = seen.map(({ text }) => text).join();
      return Math.max(matches(scored), coverExactMatch(texts, scored.task.references));
    });
    expect(wrong).toEqual(["answer-in-observation"]);
  });

  it("finds a reward that reads the policy's text past the protocol's answer", async () => {
    const { wrong } = await checked(({ trajectory, task }) =>
      coverExactMatch(trajectory.turns.map(({ text }) => text).join(), task.references),
    );
    expect(wrong).toEqual(expect.arrayContaining(["answer-in-think", "unclosed-tag"]));
  });

  it("says where a trajectory cannot be scored", async () => {
    const found = await checked((scored) => (scored.task.id === "rain" ? null : matches(scored)));
    expect(found.rewards[0]?.cases[0]).toMatchObject({
      got: null,
      ok: false,
      failed: { question: "rain", value: null, answer: "yes" },
    });
  });

  it("adds the weighted rewards up to say what is had without answering", async () => {
    const talks = defineReward({
      name: "talks",
      summary: "For tests.",
      range: [0, 1],
      score: ({ trajectory }) => Number(trajectory.answer !== null),
    });
    const { withoutAnswering } = await checkRewards({
      environment: environmentOf("search-r1"),
      tasks,
      signal,
      rewards: [
        { name: "exact-match", weight: 1, options: {} },
        { name: "talks", weight: 0.25, options: {} },
      ],
      registry: registry("reward", [...rewards.parts, talks]),
    });
    // .25 of 1.25.
    expect(withoutAnswering).toEqual({
      case: "empty-answer",
      share: expect.closeTo(0.2, 12) as number,
    });
  });

  const brevity = defineReward({
    name: "brevity",
    summary: "For tests.",
    score: ({ trajectory }) => Number((trajectory.answer ?? "").split(/\s+/).length <= 5),
  });
  const known = registry("reward", [...rewards.parts, brevity]);
  const together = (
    weighted: readonly WeightedReward[],
    more: Partial<Parameters<typeof checkRewards>[0]> = {},
  ) =>
    checkRewards({
      environment: environmentOf("search-r1"),
      tasks,
      signal,
      registry: known,
      rewards: weighted,
      ...more,
    });
  const use = (name: string, weight = 1) => ({ name, weight, options: {} });

  it("does not fail a shaping reward, which declares nothing", async () => {
    const found = await together([use("exact-match"), use("brevity", 0.1)]);
    expect(found.ok).toBe(true);
    expect(found.rewards[1]).toMatchObject({
      kind: "shaping",
      cases: expect.anything() as unknown,
    });
    const [golden, ...others] = found.rewards[1]?.cases ?? [];
    expect(golden).toMatchObject({ expected: null, got: [1, 1], ok: true });
    expect(others.every(({ ok }) => ok)).toBe(true);
    // 1.1 for "Oslo"; .1 for saying nothing.
    expect(found.combined).toMatchObject({ ok: true, golden: expect.closeTo(1.1, 12) as number });
    expect(found.combined?.most.value).toBeCloseTo(0.1, 12);
  });

  it("fails a combined reward that pays more for not answering, with both numbers", async () => {
    const expression = rewardExpression("0.3 * em - answered", ["em"]);
    const em = { ...use("exact-match", 0), as: "em" };
    const found = await together([em], { scoring: { expression } });
    expect(found.rewards[0]?.cases.every(({ ok }) => ok)).toBe(true);
    expect(found).toMatchObject({
      ok: false,
      combined: { ok: false, most: { case: "silent", value: 0 } },
      withoutAnswering: null,
    });
    expect(found.combined?.golden).toBeCloseTo(-0.7, 12);
    expect(() => {
      requireSoundRewards(found, "my recipe");
    }).toThrow(errorWith("REWARD_CHECK_FAILED", /is 0 in case silent .*-0\.7 for an accepted/));
    // One reward checked alone is not judged as a sum.
    const alone = await together([em], { scoring: { expression }, judgesSum: false });
    expect(alone).toMatchObject({ ok: true, combined: null });
  });

  it("lets a reward of searching pass beside its golden answer after a search, and no heavier", async () => {
    // A search that shows the reference earns 1 with or without an answer.
    expect((await together([use("retrieval-hit")])).combined).toEqual({
      ok: true,
      golden: 1,
      most: { case: "answer-in-observation", value: 1 },
    });
    const both = await together([use("exact-match"), use("retrieval-hit", 3)]);
    expect(both).toMatchObject({ ok: true, withoutAnswering: { share: 0.75 } });
    const expression = rewardExpression("exact-match + 3 * (hit and not answered)", [
      ...["exact-match", "hit"],
    ]);
    const hit = { ...use("retrieval-hit", 0), as: "hit" };
    const hacked = await together([use("exact-match", 0), hit], { scoring: { expression } });
    expect(hacked.combined).toEqual({
      ok: false,
      golden: 1,
      most: { case: "answer-in-observation", value: 3 },
    });
  });

  it("says which reward it could not check, because the reward's model is not open", async () => {
    const asks = defineReward({
      name: "asks",
      summary: "For tests.",
      kind: "answer",
      expects: answerExpectations(),
      score: async (_scored, _options, { logprobs }) => (await logprobs("a", "b"))?.[0] ?? null,
    });
    const found = await together([use("exact-match"), use("asks")], {
      registry: registry("reward", [...rewards.parts, asks]),
      scoring: { roles: openRoles(settingsSchema.parse({})) },
    });
    expect(found).toMatchObject({ ok: true, combined: null });
    expect(found.rewards[1]?.unscored).toContain('"policy" is not open');
  });
});

describe("checkRecipeRewards", () => {
  it("says in one line that tasks without accepted answers cannot be checked, and passes", async () => {
    const open = tasks.map((task) => ({ ...task, references: [] }));
    const found = await checkRecipeRewards(settingsSchema.parse({}), open, { signal });
    expect(found).toMatchObject({ ok: true, trajectories: 0 });
    expect(rewardCheckBlocks("mine", found)).toMatchObject([
      { text: ["mine: rewards not checked: the tasks have no accepted answers"] },
    ]);
  });
});

it("an answer after a search closes the thought that the protocol opens there", async () => {
  const { settings } = await resolveRecipe("agent-r1", { tier: "smoke" });
  const tasks = await (await openNamedDataset(settings.dataset, settings.environment)).tasks();
  const { signal } = new AbortController();
  const { ok, notWritten } = await checkRecipeRewards(settings, tasks, { signal });
  expect(ok).toBe(true);
  expect(notWritten).not.toContain("golden-after-search");
});
