import { describe, expect, it } from "vitest";
import { algorithms } from "../../src/algorithms/index.ts";
import {
  type LoopState,
  type OnPolicyOptions,
  type OnPolicyRun,
  type OnPolicyStep,
  trainOnPolicy,
} from "../../src/algorithms/on-policy.ts";
import {
  type PolicyEngine,
  type SampleRequest,
  type SampleResult,
  heldWeights,
} from "../../src/engine/engine.ts";
import { type Trajectory, policyTokenCount } from "../../src/trajectory/trajectory.ts";
import { enginePolicy } from "../../src/rollout/policy.ts";
import "../helpers/all-parts.ts";
import { errorWith } from "../helpers/error-with.ts";
import { listed } from "../helpers/listed-retriever.ts";
import { searchEnvironment, task, tokenizer } from "../helpers/search-world.ts";

/** An engine whose only weights are the number of its steps. It answers rightly where that number and the seed add up to an even one. */
function countingEngine(version = 0): PolicyEngine & { atUpdate: () => Promise<void> } {
  const sample = ({ seed }: SampleRequest, at: number): Promise<SampleResult> => {
    const text = `<answer>${(seed + at) % 2 === 0 ? " Oslo" : " capital"}</answer>`;
    const ids = tokenizer.encode(text);
    return Promise.resolve({ ids, logprobs: ids.map(() => -1 - at / 8), finish: "stop" });
  };
  const absent = () => Promise.reject(new Error("is not asked"));
  let steps = version;
  return {
    tokenizer,
    machine: { device: "test" },
    atUpdate: () => Promise.resolve(),
    get policyVersion() {
      return steps;
    },
    capabilities: {
      maxPositions: 256,
      vocabSize: tokenizer.vocabSize,
      adapters: true,
      temperatures: true,
      losses: ["policy-gradient"],
      critic: null,
    },
    sample: (request) => sample(request, steps),
    samplingClient() {
      const policyVersion = steps;
      const own = (request: SampleRequest) => sample(request, policyVersion);
      return Promise.resolve({ policyVersion, sample: own, forget: () => undefined });
    },
    forget: () => undefined,
    async forwardBackward(rows) {
      await this.atUpdate();
      return {
        loss: 0,
        logprobs: rows.map(({ targets }) => new Float32Array(targets.length).fill(-1 - steps / 8)),
        metrics: {},
      };
    },
    optimStep: () => Promise.resolve({ gradNorm: (steps += 1) }),
    logprobs: absent,
    values: absent,
    snapshot: absent,
    save: absent,
    load: absent,
    close: () => Promise.resolve(),
  };
}

interface Changes extends Partial<OnPolicyRun> {
  given?: Record<string, unknown>;
  engine?: ReturnType<typeof countingEngine>;
}

/** @returns the steps that were reported, as JSON keeps them. */
async function train(changes: Changes): Promise<OnPolicyStep[]> {
  const { given = {}, engine = countingEngine(), ...rest } = changes;
  const algorithm = algorithms.get("grpo", "test");
  const settings = {
    steps: 4,
    promptsPerStep: 2,
    groupSize: 4,
    minibatches: 2,
    maxStepsOffPolicy: 1,
    klCoef: 0,
    ...given,
  };
  const held = heldWeights(engine);
  const ahead = settings.maxStepsOffPolicy === 1;
  const steps: OnPolicyStep[] = [];
  await trainOnPolicy({
    algorithm,
    options: algorithm.options.parse(settings) as unknown as OnPolicyOptions,
    engine,
    policy: enginePolicy(ahead ? held.engine : engine, tokenizer),
    holdWeights: ahead ? () => held.hold() : undefined,
    environment: searchEnvironment({}, listed(["a"])),
    strategy: "agent",
    seed: 3,
    firstStep: 0,
    sampling: { temperature: 1, topP: 1, topK: 0 },
    tasks: ["one", "two", "three", "four", "five"].map((id) => ({ ...task, id })),
    rewards: [{ name: "exact-match", weight: 1, options: {} }],
    signal: new AbortController().signal,
    onStep: (step) => {
      steps.push(JSON.parse(JSON.stringify({ ...step, timings: null })) as OnPolicyStep);
      return Promise.resolve(true);
    },
    ...rest,
  });
  return steps;
}

const versions = (steps: readonly OnPolicyStep[]): (number | null)[][] =>
  steps.map(({ trajectories }) => [
    ...new Set(trajectories.flatMap(({ calls }) => calls.map((call) => call.policyVersion))),
  ]);
const batches = (steps: readonly OnPolicyStep[]): string[][] =>
  steps.map(({ trajectories }) => trajectories.map(({ id, taskId }) => `${id} ${taskId}`));

describe("rollouts of the next step", () => {
  it("wait for a step and see its weights without maxStepsOffPolicy", async () => {
    const steps = await train({ given: { maxStepsOffPolicy: 0 } });
    expect(versions(steps)).toEqual([[0], [2], [4], [6]]);
    expect(steps[0]!.metrics).not.toHaveProperty("rollout/staleness");
    expect(Object.keys(steps[0]!.state)).toEqual(["history", "sampler"]);
  });

  it("see the weights before the step with it, and the metrics say so", async () => {
    const steps = await train({});
    // Two minibatches are two optimiser steps.
    expect(versions(steps)).toEqual([[0], [0], [2], [4]]);
    expect(steps.map(({ metrics }) => metrics["rollout/staleness"])).toEqual([0, 2, 2, 2]);
    // d = trainer − sampled = −2/8 for every token: k3 is e^d − d − 1.
    const kl = Math.exp(-0.25) + 0.25 - 1;
    const found = steps.map(({ metrics }) => metrics["mismatch/kl"]);
    [0, kl, kl, kl].forEach((each, i) => {
      expect(found[i]).toBeCloseTo(each, 6);
    });
  });

  it("are sampled while the step trains, and it trains while they are sampled", async () => {
    const engine = countingEngine();
    const opened = { samples: 0 };
    let begun = (): void => undefined;
    let trained = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const isTraining = new Promise<void>((resolve) => (trained = resolve));
    // Each waits for the other: one after the other would never end.
    engine.atUpdate = () => {
      trained();
      return hasBegun;
    };
    const open = engine.samplingClient!.bind(engine);
    engine.samplingClient = async () => {
      const client = await open();
      const isAhead = opened.samples++ > 0;
      return {
        ...client,
        async sample(request) {
          if (isAhead) {
            begun();
            await isTraining;
          }
          return client.sample(request);
        },
      };
    };
    expect(versions(await train({ engine, given: { steps: 2 } }))).toEqual([[0], [0]]);
  });

  it.each(["shuffled", { name: "refill", maxRounds: 3 }, { name: "success-band", retryAfter: 2 }])(
    "are those that the sampler %j asks for one after the other",
    async (sampler) => {
      // Weights that never matter, so that both runs see the same scores.
      const engine = () => Object.assign(countingEngine(), { optimStep: still });
      const still = () => Promise.resolve({ gradNorm: 1 });
      const given = { sampler, steps: 6 };
      const apart = await train({ engine: engine(), given: { ...given, maxStepsOffPolicy: 0 } });
      const ahead = await train({ engine: engine(), given });
      expect(batches(ahead)).toEqual(batches(apart));
      expect(ahead.at(-1)!.state).toEqual(apart.at(-1)!.state);
    },
  );

  it("are kept with a step, so that a run resumed after any equals one that went on", async () => {
    const straight = await train({});
    for (const done of [1, 2, 3]) {
      const state: LoopState = straight[done - 1]!.state;
      expect(state.ahead?.step).toBe(done);
      const engine = countingEngine(2 * done);
      const rest = await train({ engine, state, firstStep: done });
      expect(rest).toEqual(straight.slice(done));
    }
    expect(straight[3]!.state).not.toHaveProperty("ahead");
  });

  it("that branch off share the calls before, whose tokens are counted once", async () => {
    const given = { steps: 1, maxStepsOffPolicy: 0, minibatches: 1 };
    const [{ trajectories, tokens }] = (await train({ given })) as [OnPolicyStep];
    const [first, , ...rest] = trajectories as [Trajectory, Trajectory, ...Trajectory[]];
    const branch = { ...first, id: `${first.id}.1.1`, branch: { of: first.id, calls: 1 } };
    const batchOf = () => Promise.resolve([first, branch, ...rest]);
    const [again] = (await train({ given, batchOf })) as [OnPolicyStep];
    const second = policyTokenCount(trajectories[1]!);
    expect(second).toBeGreaterThan(0);
    expect(again.tokens.sampled).toBe(tokens.sampled - second);
    expect(again.metrics["rollout/tokens"]).toBe(again.tokens.sampled);
  });

  it("that wait for their continuation are kept with a step, and every token is counted once", async () => {
    // Two rollouts of a task are alike where their seeds are both even or both odd: some tasks wait, some are left.
    const given = {
      sampler: { name: "screen-continue", screen: 2, screenedBatches: 2 },
      steps: 5,
      maxStepsOffPolicy: 0,
      minibatches: 1,
    };
    const straight = await train({ given });
    const waiting = straight.map(({ state }) => (state.sampler as { waiting: unknown[] }).waiting);
    expect(Math.max(...waiting.map(({ length }) => length))).toBeGreaterThan(0);
    for (const done of [1, 2, 3, 4]) {
      const state: LoopState = straight[done - 1]!.state;
      const rest = await train({ given, engine: countingEngine(done), state, firstStep: done });
      expect(rest).toEqual(straight.slice(done));
    }
    // A batch's rollouts, those that wait and those that were left: what each step sampled is counted in it.
    const tokensOf = (trajectories: readonly Trajectory[]): number =>
      trajectories.reduce((sum, each) => sum + policyTokenCount(each), 0);
    for (const { metrics, tokens } of straight)
      expect(metrics["rollout/tokens"]).toBe(tokens.sampled);
    const sampled = straight.reduce((sum, { tokens }) => sum + tokens.sampled, 0);
    const trained = straight.flatMap(({ trajectories }) => trajectories);
    expect(new Set(trained.map(({ id }) => id)).size).toBe(trained.length);
    expect(sampled).toBeGreaterThan(tokensOf(trained));
    // A group with rollouts of the weights before: its age is told.
    const old = straight.filter(({ trajectories, step }) =>
      trajectories.some(({ calls }) => calls.some((call) => call.policyVersion !== step - 1)),
    );
    expect(old.length).toBeGreaterThan(0);
    for (const { metrics } of old) expect(metrics["rollout/staleness"]).toBeGreaterThan(0);
  });

  it("may all wait for the next step: a step without a batch changes no weights", async () => {
    const sampler = { name: "screen-continue", screen: 2, screenedBatches: 2, maxRounds: 1 };
    const steps = await train({ given: { sampler, steps: 2, maxStepsOffPolicy: 0 } });
    expect(steps[0]!.trajectories).toEqual([]);
    expect(steps[0]!.tokens.sampled).toBeGreaterThan(0);
    expect(steps[1]!.trajectories.length).toBeGreaterThan(0);
    expect(versions(steps)).toEqual([[], [0]]);
  });

  it("end before a run that is interrupted, so that its last step is whole", async () => {
    const stop = new AbortController();
    const engine = countingEngine();
    engine.atUpdate = () => {
      stop.abort();
      return Promise.resolve();
    };
    const states: LoopState[] = [];
    const onStep = ({ state }: OnPolicyStep) => Promise.resolve(states.push(state) > 0);
    await expect(train({ engine, signal: stop.signal, onStep })).rejects.toThrow(/abort/);
    expect(states.map(({ ahead }) => ahead?.trajectories.length)).toEqual([8]);
  });

  it("end with the step that fails beside them, and fail it where they fail", async () => {
    const engine = countingEngine();
    engine.atUpdate = () => Promise.reject(new Error("the server is gone"));
    await expect(train({ engine })).rejects.toThrow("the server is gone");
    const sampling = countingEngine();
    const open = sampling.samplingClient!.bind(sampling);
    let opened = 0;
    sampling.samplingClient = async () => {
      const client = await open();
      const fails = opened++ === 1;
      return fails ? { ...client, sample: () => Promise.reject(new Error("lost")) } : client;
    };
    const reported: number[] = [];
    const onStep = ({ step }: OnPolicyStep) => Promise.resolve(reported.push(step) > 0);
    await expect(train({ engine: sampling, onStep })).rejects.toThrow(/lost/);
    expect(reported).toEqual([]);
  });
});

describe("held weights", () => {
  it("need an engine that has them", () => {
    const engine = countingEngine();
    delete engine.samplingClient;
    expect(() => heldWeights(engine)).toThrow(errorWith("ENGINE_UNFIT", /engine \(test\) cannot/));
  });

  it("give no log-probabilities of a policy that is being trained", async () => {
    const { engine } = heldWeights(countingEngine());
    await expect(engine.logprobs([])).rejects.toThrow(
      errorWith("ENGINE_UNFIT", /log-probabilities of the policy/),
    );
  });
});
