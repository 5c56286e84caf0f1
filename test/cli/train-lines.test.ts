import { describe, expect, it } from "vitest";
import { trainLines } from "../../src/cli/train-lines.ts";
import { isContinuousIntegration } from "../../src/cli/train-watch.ts";
import { madeEvaluation, madeStep } from "../helpers/dashboard-run.ts";

function watched(emMetric = "reward/exact-match") {
  const lines: string[] = [];
  const { news, stop } = trainLines(
    {
      call: "agentrl",
      terminal: false,
      signal: new AbortController().signal,
      out: () => undefined,
      document: () => undefined,
      untilStopped: () => Promise.resolve(),
      // eslint-disable-next-line @typescript-eslint/no-base-to-string -- painted text has a toString of its own
      note: (text) => lines.push(String(text)),
    },
    emMetric,
  );
  return { news, stop, lines };
}

describe("a training as lines", () => {
  it("has a dash, not a number, for what a step does not measure", () => {
    const { news, stop, lines } = watched();
    const { metrics, ...step } = madeStep(9, 10);
    const { "reward/exact-match": _, ...rest } = metrics;
    news.onStep({ ...step, metrics: rest });
    stop();
    expect(lines.at(-1)).toMatch(/^ 9\/10 +0\.190 +– +1\.00/);
  });

  it("has exact match under the name that the recipe gives it", () => {
    const { news, stop, lines } = watched("reward/em");
    const step = madeStep(9, 10);
    news.onStep({ ...step, metrics: { ...step.metrics, "reward/em": 0.75 } });
    stop();
    expect(lines.at(-1)).toMatch(/^ 9\/10 +0\.190 +0\.750 /);
  });

  it("has a line for every evaluation, stage, step and event", () => {
    const { news, stop, lines } = watched();
    const stage = { number: 1, name: "warm", do: "train" as const, from: "last", set: {} };
    news.onRewardCheck(null);
    news.onEvaluationStart("before", 100);
    news.onEvaluationProgress({ done: 50, em: 0.1 });
    news.onEvaluation("before", madeEvaluation(0.125));
    news.onStage(stage, 2, true);
    news.onBatch([], 9);
    news.onStep(madeStep(9, 10));
    news.onEvent({ kind: "alarm", step: 9, message: "entropy is .02", facts: {} });
    news.onEvaluation("step-9", madeEvaluation(0.2));
    news.onStep(madeStep(10, 10));
    stop();
    const event = lines.filter((line) => line.includes("entropy is .02"));
    expect(event).toHaveLength(1);
    expect(lines.filter((line) => !event.includes(line)).join("\n")).toMatchInlineSnapshot(`
      "rewards: not checked (rewardCheck is false)
      before training: EM 0.125 on 100 held-out questions
      stage 1/2: warm (train), done before
       step  reward      EM  searches  answered  entropy      KL  flat groups  tokens/s
       9/10   0.190   0.190      1.00      1.00    0.500  0.0010         0.50      1000
      step-9: EM 0.200 on 100 held-out questions
      10/10   0.200   0.200      1.00      1.00    0.500  0.0010         0.50      1000"
    `);
  });
});

describe("a continuous integration", () => {
  it("is what CI says, unless it says no", () => {
    const found = ["true", "1", "", "0", "false", undefined].map((CI) =>
      isContinuousIntegration({ CI }),
    );
    expect(found).toEqual([true, true, false, false, false, false]);
  });
});
