import { describe, expect, it } from "vitest";
import type { Finding } from "../../../src/watch/alarms/alarm.ts";
import { alarms } from "../../../src/watch/alarms/index.ts";
import type { MetricsLine } from "../../../src/watch/metrics-line.ts";
import { metricLines, times } from "../../helpers/metric-lines.ts";

/** What a rule finds after the last line. */
function finding(
  name: string,
  lines: readonly MetricsLine[],
  options: Record<string, unknown> = {},
): Finding | null {
  const alarm = alarms.get(name, "test");
  return alarm.check(lines, alarm.options.parse(options));
}

/** Rewards of 0 and 1 at so many steps. */
const zeroOrOne = (steps: number): Record<string, number[]> => {
  return { "rollout/reward_min": times(steps, 0), "rollout/reward_max": times(steps, 1) };
};

describe.each(alarms.parts)("alarm $name", (alarm) => {
  const options = alarm.options.parse({});

  it("says nothing of a run without steps, and of one whose lines lack what it judges", () => {
    expect(alarm.check([], options)).toBeNull();
    expect(alarm.check(metricLines({ "other/metric": times(300, 1) }), options)).toBeNull();
  });

  it("says nothing of a run that stays as it is", () => {
    const metrics = alarm.metrics.filter((name) => name.includes("/") && !name.includes("<"));
    const steady = metrics.map((name) => [name, times(300, 0.01)] as const);
    const lines = metricLines({ ...Object.fromEntries(steady), ...zeroOrOne(300) });
    expect(alarm.check(lines, options)).toBeNull();
  });

  it("looks back at a whole number of steps, and says where it comes from and what to try", () => {
    expect(Number.isInteger(alarm.window(options))).toBe(true);
    expect(alarm.source).not.toBe("");
    expect(alarm.advice).toMatch(/\.$/);
  });
});

describe("not-a-number", () => {
  it("finds NaN and infinity at once, names all of them, and takes what JSON made of them", () => {
    const lines = metricLines({ "losses/policy": [1, 1], "optimizer/grad_norm": [1, 1] });
    const last = lines[1]!;
    expect(finding("not-a-number", lines)).toBeNull();
    const metrics = { ...last.metrics, "losses/policy": NaN, "optimizer/grad_norm": Infinity };
    expect(finding("not-a-number", [{ ...last, metrics }])).toMatchObject({
      metric: "losses/policy",
      value: NaN,
      lastGoodStep: 1,
      message:
        "losses/policy was NaN at step 2, as were optimizer/grad_norm; only finite numbers are allowed.",
    });
    const read = JSON.parse(JSON.stringify([{ ...last, metrics }])) as MetricsLine[];
    expect(finding("not-a-number", read)).toMatchObject({ metric: "losses/policy" });
  });
});

describe("reward-drop", () => {
  const drop = (values: number[], metric = "rollout/reward_mean"): Finding | null =>
    finding("reward-drop", metricLines({ [metric]: values }), { smooth: 2 });

  it("finds a mean below seven tenths of the best one", () => {
    // Means of two: .8, .8, .65, .5; .7 × .8 = .56.
    expect(drop([0.8, 0.8, 0.8, 0.5])).toBeNull();
    expect(drop([0.8, 0.8, 0.8, 0.5, 0.5])).toMatchObject({
      metric: "rollout/reward_mean",
      value: 0.5,
      limit: expect.closeTo(0.56, 9) as number,
      lastGoodStep: 3,
      message:
        "rollout/reward_mean was 0.5 over steps 4 to 5; at least 0.56 is allowed (its best level is 0.8, noise 0).",
    });
  });

  it("does not take noise for a fall", () => {
    // Best mean .4 of .2 and .6, newest .1 of 0 and .2: standard errors .2 and .1, three times .2236 is more than .3.
    expect(drop([0.2, 0.6, 0, 0.2])).toBeNull();
  });

  it("holds every reward to it by its name, and held-out accuracy", () => {
    expect(drop([0.8, 0.8, 0.1, 0.1], "reward/exact-match")).toMatchObject({ value: 0.1 });
    expect(drop([0.8, 0.8, 0.1, 0.1], "eval/em")).toMatchObject({ value: 0.1 });
    expect(drop([0.8, 0.8, 0.1, 0.1], "rollout/searches")).toBeNull();
  });

  it("counts from the lowest reward of any trajectory where rewards are below 0", () => {
    const fall = (to: number): Finding | null => {
      const rewards = [-0.2, -0.2, to, to];
      const lines = metricLines({
        "rollout/reward_mean": rewards,
        "rollout/reward_min": times(4, -1),
      });
      return finding("reward-drop", lines, { smooth: 2 });
    };
    // .7 of the way from −1 to −.2 is −.44.
    expect(fall(-0.4)).toBeNull();
    expect(fall(-0.5)).toMatchObject({ limit: expect.closeTo(-0.44, 9) as number });
  });
});

describe("reward-gap", () => {
  const gap = (reward: number[], oracle: number[], name = "correct"): Finding | null =>
    finding(
      "reward-gap",
      metricLines({ "rollout/reward_mean": reward, [`reward/${name}`]: oracle }),
      { smooth: 2 },
    );

  it("finds a reward that rises while the oracle stands still, which is no drop", () => {
    // Differences .1, .1, .1, .3, .3: means of two .1, .1, .2, .3; .1 above the lowest is .2.
    const reward = [0.5, 0.5, 0.5, 0.7, 0.7];
    const oracle = times(5, 0.4);
    expect(gap(reward.slice(0, 4), oracle.slice(0, 4))).toBeNull();
    expect(gap(reward, oracle)).toMatchObject({
      metric: "rollout/reward_mean - reward/correct",
      value: expect.closeTo(0.3, 9) as number,
      limit: expect.closeTo(0.2, 9) as number,
      lastGoodStep: 3,
    });
  });

  it("brings a reward from -1 to 1 to the oracle's scale", () => {
    const oracle = [0.2, 0.4, 0.6, 0.8];
    const signed = {
      "rollout/reward_mean": oracle.map((each) => 2 * each - 1),
      "rollout/reward_min": times(4, -1),
      "rollout/reward_max": times(4, 1),
      "reward/correct": oracle,
    };
    expect(finding("reward-gap", metricLines(signed), { smooth: 2 })).toBeNull();
    // Paid for some of what is wrong as well: gaps of .4, .3, .2 and .2, and then of .6.
    const paid = { ...signed, "rollout/reward_mean": [0.2, 0.4, 0.6, 1] };
    expect(finding("reward-gap", metricLines(paid), { smooth: 1 })).toBeNull();
    const hacked = { ...paid, "reward/correct": [0.2, 0.4, 0.6, 0.4] };
    expect(finding("reward-gap", metricLines(hacked), { smooth: 1 })).toMatchObject({
      value: expect.closeTo(0.6, 9) as number,
      limit: expect.closeTo(0.3, 9) as number,
    });
  });

  it("says nothing where both rise, where the oracle was stricter from the start, and without one", () => {
    expect(gap([0.3, 0.4, 0.5, 0.6], [0.2, 0.3, 0.4, 0.5])).toBeNull();
    expect(gap(times(4, 0.9), times(4, 0.2))).toBeNull();
    expect(gap([0.5, 0.5, 0.9, 0.9], times(4, 0.4), "other")).toBeNull();
  });
});

describe("reward-variance", () => {
  const run = (rewards: number[]): MetricsLine[] =>
    metricLines({
      "rollout/reward_std": [0.4, 0.4, 0.05, 0.05],
      "rollout/reward_mean": rewards,
      ...zeroOrOne(4),
    });

  it("finds the deviation within groups gone", () => {
    // .15 × .4 = .06.
    expect(finding("reward-variance", run([0.3, 0.3, 0.3, 0.3]), { smooth: 2 })).toMatchObject({
      value: 0.05,
      limit: 0.06,
      lastGoodStep: 2,
    });
  });

  it("says nothing where nearly all trajectories get the best reward", () => {
    expect(finding("reward-variance", run([0.3, 0.3, 0.9, 0.9]), { smooth: 2 })).toBeNull();
  });
});

describe("zero-variance", () => {
  const run = (reward: number, range: Record<string, number[]>): MetricsLine[] =>
    metricLines({
      "rollout/zero_variance_share": times(5, 0.95),
      "rollout/reward_mean": times(5, reward),
      ...range,
    });

  it("finds groups that are all alike, from the first steps on", () => {
    expect(finding("zero-variance", run(0.02, zeroOrOne(5)))).toMatchObject({
      value: expect.closeTo(0.95, 9) as number,
      limit: 0.9,
      lastGoodStep: 0,
    });
    const never = { "rollout/reward_min": times(5, 0), "rollout/reward_max": times(5, 0) };
    expect(finding("zero-variance", run(0, never))).toMatchObject({ limit: 0.9 });
  });

  it("says nothing where nearly all are right", () => {
    expect(finding("zero-variance", run(0.97, zeroOrOne(5)))).toBeNull();
  });
});

describe("search-collapse", () => {
  const searches = (...values: number[]): Finding | null =>
    finding("search-collapse", metricLines({ "rollout/searches": values }), { smooth: 2 });

  it("finds searches at less than three tenths of their highest level", () => {
    expect(searches(1, 2, 2, 0.6, 0.6)).toBeNull();
    expect(searches(1, 2, 2, 0.5, 0.5)).toMatchObject({ value: 0.5, limit: 0.6, lastGoodStep: 3 });
  });

  it("does not judge a policy that never searched", () => {
    expect(searches(0.2, 0.2, 0, 0)).toBeNull();
  });

  it("does not ring for one step", () => {
    expect(searches(2, 2, 2, 0, 2)).toBeNull();
  });
});

describe("length-collapse and length-explosion", () => {
  const lengths = (name: string, ...values: number[]): Finding | null =>
    finding(name, metricLines({ "rollout/completion_tokens": values }), { smooth: 2 });

  it("find lengths below three tenths of the highest level, and above three times the lowest", () => {
    expect(lengths("length-collapse", 100, 100, 30, 30)).toBeNull();
    expect(lengths("length-collapse", 100, 100, 29, 29)).toMatchObject({ lastGoodStep: 2 });
    expect(lengths("length-explosion", 20, 20, 60, 60)).toBeNull();
    expect(lengths("length-explosion", 20, 20, 61, 61)).toMatchObject({ limit: 60, value: 61 });
  });
});

describe("duplicate-queries and truncation", () => {
  it("find a share above its limit over some steps, whatever came before", () => {
    const repeated = metricLines({ "rollout/duplicate_query_share": [0.9, 0.1, 0.3, 0.5, 0.5] });
    // Mean .46.
    expect(finding("duplicate-queries", repeated)).toMatchObject({ limit: 0.4, lastGoodStep: 3 });
    expect(finding("duplicate-queries", repeated.slice(1), { smooth: 4 })).toBeNull();
    const truncated = metricLines({ "rollout/truncated_share": [0, 0.6, 0.6, 0.6, 0.8] });
    // Mean .52.
    expect(finding("truncation", truncated)).toMatchObject({ limit: 0.5, lastGoodStep: 1 });
    expect(finding("truncation", truncated.slice(0, 4), { smooth: 4 })).toBeNull();
  });

  it("do not judge a step that lacks the metric", () => {
    const lines = metricLines({
      "rollout/duplicate_query_share": [1, 1, 1, 1, 1, null],
      "rollout/searches": [3, 3, 3, 3, 3, 0],
    });
    expect(finding("duplicate-queries", lines)).toBeNull();
  });
});

describe("entropy-collapse", () => {
  const run = (...rewards: number[]): Finding | null =>
    finding(
      "entropy-collapse",
      metricLines({
        "rollout/entropy": [1, 1, 0.09, 0.09],
        "rollout/reward_mean": rewards,
        ...zeroOrOne(4),
      }),
      { smooth: 2 },
    );

  it("finds a policy that is certain and no better than before", () => {
    expect(run(0.3, 0.3, 0.2, 0.2)).toMatchObject({ limit: 0.1, value: 0.09, lastGoodStep: 2 });
  });

  it("says nothing while the reward is at its best, or nearly all are right", () => {
    expect(run(0.3, 0.3, 0.4, 0.4)).toBeNull();
    expect(run(0.95, 0.95, 0.92, 0.92)).toBeNull();
  });
});

describe("entropy-explosion", () => {
  const entropy = (...values: number[]): Finding | null =>
    finding("entropy-explosion", metricLines({ "rollout/entropy": values }), { smooth: 2 });

  it("finds entropy above four times its lowest level", () => {
    expect(entropy(0.2, 0.1, 0.1, 0.4, 0.4)).toBeNull();
    expect(entropy(0.2, 0.1, 0.1, 0.41, 0.41)).toMatchObject({ limit: 0.4, lastGoodStep: 3 });
  });

  it("takes little entropy for no explosion, however much less it was", () => {
    expect(entropy(0.01, 0.01, 0.09, 0.09)).toBeNull();
  });
});

describe("kl-explosion and mismatch-kl", () => {
  it("find a mean of three steps above their limit", () => {
    expect(finding("kl-explosion", metricLines({ "losses/kl": [0.1, 0.5, 2.6] }))).toMatchObject({
      limit: 1,
      lastGoodStep: 2,
    });
    expect(finding("kl-explosion", metricLines({ "losses/kl": [0.1, 0.3, 2.6] }))).toBeNull();
    expect(finding("mismatch-kl", metricLines({ "mismatch/kl": times(3, 0.03) }))).toMatchObject({
      limit: 0.02,
      lastGoodStep: 0,
    });
  });
});

describe("gradient-norm", () => {
  it("finds norms of ten times the median of the steps before, once there are enough of them", () => {
    const norms = [...times(9, 0.2), 50, ...times(3, 2.1)];
    expect(finding("gradient-norm", metricLines({ "optimizer/grad_norm": norms }))).toMatchObject({
      limit: 2,
      lastGoodStep: 9,
    });
    expect(
      finding("gradient-norm", metricLines({ "optimizer/grad_norm": norms.slice(1) })),
    ).toBeNull();
  });
});
