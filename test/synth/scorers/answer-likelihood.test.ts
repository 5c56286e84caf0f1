import { describe, expect, it } from "vitest";
import { rollOut, type RolloutVariant } from "../../../src/rollout/roll-out.ts";
import type { TokenPolicy } from "../../../src/rollout/policy.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import { sampleScorers } from "../../../src/synth/scorers/index.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import {
  answered,
  replay,
  rolloutOptions,
  searchEnvironment,
  task,
  tokenizer,
} from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const environment = searchEnvironment();
const signal = new AbortController().signal;

interface Asked {
  prompt: string;
  text: string;
}

/** A policy that holds each token of a text less likely than the one before: -1, -2, -3, …; what it is asked is kept. */
function judging(asked: Asked[], maxPositions = Infinity): TokenPolicy {
  return {
    ...replay([]),
    maxPositions,
    logprobs(promptIds, ids) {
      asked.push({ prompt: tokenizer.decode([...promptIds]), text: tokenizer.decode([...ids]) });
      return Promise.resolve(ids.map((_, i) => -1 - i));
    },
  };
}

async function score(
  trajectory: Trajectory,
  of: Task = task,
  { maxPositions = Infinity, over = environment } = {},
): Promise<{ scores: Record<string, number>; asked: Asked[] }> {
  const asked: Asked[] = [];
  const resources = { policy: judging(asked, maxPositions), environment: over, seed: 1 };
  const scorer = sampleScorers.get("answer-likelihood", "test").open({}, resources);
  return { scores: await scorer.score(of, trajectory, signal), asked };
}

const play = (script: readonly string[], variant: RolloutVariant = {}): Promise<Trajectory> =>
  rollOut(rolloutOptions({ policy: replay(script) }), variant);

describe("answer-likelihood", () => {
  it("asks for the gold answer after the last observation, without the trajectory's own last message", async () => {
    const trajectory = await play([
      "<search>capital Norway</search>",
      "<think>It is Lima.</think><answer>Lima</answer>",
    ]);
    const before = structuredClone(trajectory);
    const { scores, asked } = await score(trajectory);
    expect(asked).toEqual([
      {
        prompt:
          "Question: What is the capital of Norway?\n<search>capital Norway</search>\n\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\n</information>\n\n<answer>",
        text: " Oslo</answer>",
      },
    ]);
    // Two tokens: " Oslo" -1, "</answer>" -2.
    expect(scores).toEqual({ "answer-likelihood": -1.5, "answer-likelihood-sum": -3 });
    expect(trajectory).toEqual(before);
  });

  it("takes the likeliest of several references, each score by itself", async () => {
    // "Lima" is a byte a token: six tokens with its space and the closing tag, -1 to -6.
    const { scores, asked } = await score(await play(["<answer>x</answer>"]), {
      ...task,
      references: ["Lima", "Oslo"],
    });
    expect(asked.map(({ text }) => text)).toEqual([" Lima</answer>", " Oslo</answer>"]);
    expect(scores).toEqual({ "answer-likelihood": -1.5, "answer-likelihood-sum": -3 });
    const alone = await score(await play(["<answer>x</answer>"]), {
      ...task,
      references: ["Lima"],
    });
    expect(alone.scores).toEqual({ "answer-likelihood": -3.5, "answer-likelihood-sum": -21 });
  });

  it("opens the answer once where a strategy has opened it", async () => {
    const options = rolloutOptions({ policy: replay(["Oslo</answer>"]) });
    const { asked } = await score(await strategies.get("rag", "test").run(options));
    expect(asked[0]?.prompt).toBe(
      "Question: What is the capital of Norway?\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\n</information>\n<answer>",
    );
  });

  it("leaves out what was withheld, in the last message's prompt and in earlier ones", async () => {
    const withheld = { name: "withheld", text: "The answer is {answer}.\n" };
    const hinted = strategies.get("hint-infer", "test");
    const prompts = ["<answer>Lima</answer>", "<search>capital Norway</search>"].map(
      async (first) => {
        const policy = replay([first, "<answer>Lima</answer>"]);
        const played = await hinted.run(rolloutOptions({ policy }), { hints: [withheld] });
        expect(played.hints).toMatchObject([{ text: "The answer is Oslo.\n", withheld: true }]);
        return (await score(played)).asked[0]?.prompt;
      },
    );
    expect(await Promise.all(prompts)).toEqual([
      "Question: What is the capital of Norway?\n<answer>",
      "Question: What is the capital of Norway?\n<search>capital Norway</search>\n\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\n</information>\n\n<answer>",
    ]);
  });

  it("reads the final prompt of a strategy that builds its prompts anew", async () => {
    const policy = promptedPolicy([
      [/Query 1:$/, "capital Norway"],
      [/Answer:$/, "Oslo"],
      [/<answer>$/, "Lima</answer>"],
    ]);
    const corag = strategies.get("corag", "test");
    const { asked } = await score(await corag.run(rolloutOptions({ policy }), { steps: 1 }));
    expect(asked[0]?.prompt).toMatch(
      /^Passages:\n.*\nQuery 1: capital Norway\nAnswer 1: Oslo\nQuestion: .*\n<answer>$/s,
    );
  });

  it("shows observations that came after the last message, as short as the environment does", async () => {
    const short = searchEnvironment({
      budgets: [
        { scope: "trajectory", unit: "turns", limit: 1, onExhausted: "end" },
        { scope: "observation", unit: "tokens", limit: 8, onExhausted: "cut" },
      ],
    });
    const policy = replay(["<search>capital Norway</search>"]);
    const trajectory = await rollOut(rolloutOptions({ policy, environment: short }));
    expect(trajectory.end).toBe("turn-limit");
    const { asked } = await score(trajectory, task, { over: short });
    const shown = tokenizer.encode("\n\n<information>Doc 1(Title").slice(0, 8);
    expect(asked[0]?.prompt).toBe(
      `Question: What is the capital of Norway?\n<search>capital Norway</search>${tokenizer.decode(shown)}<answer>`,
    );
  });

  it("says nothing where it cannot tell", async () => {
    const whole = await play(["<answer>Oslo</answer>"]);
    const failed = { ...whole, end: "tool-error" as const };
    const remote = structuredClone(whole);
    remote.calls[0]!.completion[0] = { owner: "policy", ids: [], logprobs: null, text: "Oslo" };
    for (const trajectory of [answered("Oslo"), failed, remote]) {
      expect((await score(trajectory)).scores).toEqual({});
    }
    const positions = tokenizer.encode("Question: What is the capital of Norway?\n<answer>").length;
    expect((await score(whole, task, { maxPositions: positions + 1 })).scores).toEqual({});
    expect((await score(whole, task, { maxPositions: positions + 2 })).scores).not.toEqual({});
  });

  it("needs a teacher that can tell how likely a text is", () => {
    const open = (): unknown =>
      sampleScorers
        .get("answer-likelihood", "test")
        .open({}, { policy: replay([]), environment, seed: 1 });
    expect(open).toThrow(
      errorWith("STRATEGY_NEEDS_LOGPROBS", /^synth\.scores \(answer-likelihood\): the policy/),
    );
  });
});
