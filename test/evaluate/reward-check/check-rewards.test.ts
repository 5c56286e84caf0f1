import { describe, expect, it } from "vitest";
import { registry } from "../../../src/base/registry.ts";
import { z } from "../../../src/base/schema.ts";
import { checkRewards, goldRetriever } from "../../../src/evaluate/reward-check/check-rewards.ts";
import { canAnswer } from "../../../src/evaluate/reward-check/scripts.ts";
import { protocols } from "../../../src/env/protocols/index.ts";
import {
  answerExpectations,
  REWARD_CASES,
  type RewardExpectations,
} from "../../../src/rewards/expectations.ts";
import { rewards } from "../../../src/rewards/index.ts";
import { type Scored, trajectoryReward } from "../../../src/rewards/reward.ts";
import { coverExactMatch, exactMatch } from "../../../src/text/answers.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { searchEnvironment } from "../../helpers/search-world.ts";

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
  scoreOne: (scored: Scored) => number | null,
  expects: RewardExpectations = answerExpectations(),
) {
  const part = trajectoryReward({
    ...{ name: "made", summary: "For tests.", source: "test", range: [0, 1], expects },
    options: z.strictObject({}),
    scoreOne,
  });
  const found = await checkRewards({
    ...{ environment: environmentOf("search-r1"), tasks, signal },
    rewards: [{ name: "made", weight: 1, options: {} }],
    registry: registry("reward", [part]),
  });
  const wrong = found.rewards[0]?.cases.filter(({ ok }) => !ok).map((each) => each.case);
  return { ...found, wrong };
}

const matches = ({ trajectory: { answer }, task }: Scored): number =>
  answer === null ? 0 : exactMatch(answer, task.references);

describe("checkRewards", () => {
  it.each(
    rewards.parts.flatMap(({ name }) => protocols.names.map((protocol) => ({ name, protocol }))),
  )("finds that $name keeps to what it declares under $protocol", async ({ name, protocol }) => {
    const environment = environmentOf(protocol);
    expect(canAnswer(environment.protocol)).toBe(true);
    const found = await checkRewards({
      ...{ environment, tasks, signal },
      rewards: [{ name, weight: 1, options: rewards.get(name, "test").options.parse({}) }],
    });
    expect(found.rewards[0]?.cases.filter(({ ok }) => !ok)).toEqual([]);
    expect(found.notWritten).toEqual([]);
    expect(found.rewards[0]?.cases.map((each) => each.case)).toEqual(Object.keys(REWARD_CASES));
    // 17 cases for each question and a golden one for each of its answers.
    expect(found).toMatchObject({ ok: true, questions: 3, trajectories: 3 * 17 + 4 });
  });

  it("finds a reward that is always 0: golden answers earn nothing", async () => {
    const found = await checked(() => 0);
    expect(found).toMatchObject({
      ok: false,
      wrong: ["golden", "tag-in-think"],
      withoutAnswering: null,
    });
    expect(found.rewards[0]?.cases[0]).toEqual({
      ...{ case: "golden", expected: "1", got: [0, 0], ok: false },
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
      ...{ alternatives: 1, candidates: 1, repeated: 1, "very-long": 1 },
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
      ...{ got: null, ok: false },
      failed: { question: "rain", value: null, answer: "yes" },
    });
  });

  it("adds the weighted rewards up to say what is had without answering", async () => {
    const talks = trajectoryReward({
      ...{ name: "talks", summary: "For tests.", source: "test", range: [0, 1] },
      expects: answerExpectations(),
      options: z.strictObject({}),
      scoreOne: ({ trajectory }) => Number(trajectory.answer !== null),
    });
    const { withoutAnswering } = await checkRewards({
      ...{ environment: environmentOf("search-r1"), tasks, signal },
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
});
