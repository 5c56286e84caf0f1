import { describe, expect, it } from "vitest";
import { followRun } from "../../../src/cli/dashboard/follow-run.ts";
import { TOKENS_PER_SECOND } from "../../../src/view/runs/panels.ts";
import { openRunControl } from "../../../src/run/folder/run-control.ts";
import { BEGUN, madeEvaluation, madeStep } from "../../helpers/dashboard-run.ts";
import { fakeClock } from "../../helpers/screen.ts";

function following() {
  const clock = fakeClock();
  const control = openRunControl();
  const run = followRun(BEGUN.facts, control, () => clock.now());
  return { clock, control, run, news: run.news };
}

describe("following a run", () => {
  it("foretells the end from the time of recent steps, with the last evaluation", () => {
    const { clock, run, news } = following();
    news.onEvaluationStart("before", 100);
    clock.pass(5000);
    news.onEvaluation("before", madeEvaluation(0.1));
    clock.pass(3000);
    news.onStep(madeStep(1, 10));
    clock.pass(1000);
    news.onStep(madeStep(2, 10));
    // Steps of 3 and 1 s; eight are left, and an evaluation of 5 s.
    expect(run.view()).toMatchObject({ step: 2, stepMs: 2000, leftMs: 21_000, elapsedMs: 9000 });
  });

  it("leaves the time of a pause out of a step's", () => {
    const { clock, control, run, news } = following();
    news.onStep(madeStep(1));
    control.pause();
    clock.pass(1000);
    news.onStep(madeStep(2));
    expect(run.view()).toMatchObject({ paused: true, asked: { pause: true } });
    clock.pass(60_000);
    control.resume();
    expect(run.view()).toMatchObject({ paused: false, asked: { pause: false } });
    clock.pass(1000);
    news.onStep(madeStep(3));
    expect(run.view().stepMs).toBe(1000);
  });

  it("takes back the steps of a run that went back", () => {
    const { run, news } = following();
    for (const step of [1, 2, 3, 4]) news.onStep(madeStep(step));
    news.onStep(madeStep(3));
    expect(run.view().history.map(({ step }) => step)).toEqual([1, 2, 3]);
  });

  it("counts tokens sampled and trained over the time of both", () => {
    const { run, news } = following();
    news.onStep(madeStep(1));
    // 300 and 700 tokens in 400 and 600 ms.
    expect(run.view().history[0]?.metrics[TOKENS_PER_SECOND]).toBe(1000);
  });

  it("holds what was asked for until the run has taken it up", () => {
    const { run, news } = following();
    run.ask("save");
    run.ask("stop");
    expect(run.view().asked).toMatchObject({ save: true, stop: true });
    news.onStep(madeStep(1));
    expect(run.view().asked).toMatchObject({ save: false, stop: true });
  });

  it("keeps what was asked for during an evaluation on the way for the next step", () => {
    const { run, news } = following();
    news.onStep(madeStep(1));
    run.ask("evaluate");
    news.onEvaluationStart("step-2", 100);
    expect(run.view().asked.evaluate).toBe(false);
    run.ask("save");
    news.onEvaluation("step-2", madeEvaluation(0.2));
    news.onStep(madeStep(2));
    expect(run.view().asked.save).toBe(true);
    news.onStep(madeStep(3));
    expect(run.view().asked.save).toBe(false);
  });

  it("shows a stage's own steps, not those of the stage before", () => {
    const { run, news } = following();
    const stage = { number: 1, name: "first", do: "train" as const, from: "last", set: {} };
    news.onStage(stage, 2, false);
    news.onStep(madeStep(1));
    news.onStage({ ...stage, number: 2, name: "second" }, 2, false);
    expect(run.view()).toMatchObject({ step: 0, totalSteps: null, history: [], batch: null });
    expect(run.view().stage).toEqual({ number: 2, total: 2, name: "second", kind: "train" });
  });

  it("remembers what an earlier process left, without what has been done again", () => {
    const { run, news } = following();
    news.onStep(madeStep(3));
    const past = [1, 2, 3, 4].map((step) => madeStep(step));
    const evaluations = [{ name: "before", em: 0.1, n: 100 }];
    run.remember({ device: "webgpu", history: past, evaluations, events: [] });
    expect(run.view().history.map(({ step }) => step)).toEqual([1, 2, 3]);
    expect(run.view()).toMatchObject({ device: "webgpu", evaluations });
  });

  it("keeps a few rollouts of a large batch, from all over it", () => {
    const { run, news } = following();
    const [one] = madeStep(1).trajectories;
    const many = Array.from({ length: 240 }, (_, i) => ({ ...one!, id: String(i) }));
    news.onBatch(many, 1);
    const { batch } = run.view();
    expect(batch?.size).toBe(240);
    expect(batch?.trajectories.map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 24 }, (_, i) => i * 10),
    );
  });
});
