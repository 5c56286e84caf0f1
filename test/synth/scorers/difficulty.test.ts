import { describe, expect, it } from "vitest";
import { sampleScorers } from "../../../src/synth/scorers/index.ts";
import { errorWith } from "../../helpers/error-with.ts";
import {
  answered,
  replay,
  searchEnvironment,
  task,
  tokenizer,
} from "../../helpers/search-world.ts";

const environment = searchEnvironment();
const signal = new AbortController().signal;

/** A model that begins its reply with 1 with probability 0.3, with 0 with probability 0.1. */
function judge(prompts: string[], maxPositions = Infinity) {
  return {
    ...replay([]),
    maxPositions,
    logprobs(promptIds: readonly number[], ids: readonly number[]) {
      prompts.push(tokenizer.decode([...promptIds]));
      return Promise.resolve([Math.log(tokenizer.decode([...ids]) === "1" ? 0.3 : 0.1)]);
    },
  };
}

function open(policy: ReturnType<typeof judge>, options: Record<string, unknown> = {}) {
  return sampleScorers.get("difficulty", "test").open(options, { policy, environment, seed: 1 });
}

describe("difficulty", () => {
  it("is the probability of 1 beside that of 0 after the question alone", async () => {
    const prompts: string[] = [];
    const scorer = open(judge(prompts), { prompt: "Hard? {question}" });
    const { difficulty } = await scorer.score(task, answered("Oslo"), signal);
    expect(difficulty).toBeCloseTo(0.75, 12);
    expect(prompts).toEqual(Array(2).fill("Hard? What is the capital of Norway?"));
  });

  it("asks once for all draws of a question", async () => {
    const prompts: string[] = [];
    const scorer = open(judge(prompts));
    const scores = await Promise.all(
      ["Oslo", "Lima"].map((answer) => scorer.score(task, answered(answer), signal)),
    );
    expect(scores[0]).toEqual(scores[1]);
    expect(prompts).toHaveLength(2);
    await scorer.score({ ...task, question: "And of Peru?" }, answered("Lima"), signal);
    expect(prompts).toHaveLength(4);
    expect(prompts[3]).toMatch(/Question: And of Peru\?\nJudgement:$/);
  });

  it("says nothing where the question does not fit the context", async () => {
    expect(await open(judge([], 20)).score(task, answered("Oslo"), signal)).toEqual({});
  });

  it("refuses a prompt without the question, and a teacher that tells no likelihoods", () => {
    expect(() => open(judge([]), { prompt: "Hard?" })).toThrow("expected {question} somewhere");
    const silent = replay([]) as ReturnType<typeof judge>;
    expect(() => open(silent)).toThrow(
      errorWith("STRATEGY_NEEDS_LOGPROBS", "synth.scores (difficulty)"),
    );
  });
});
