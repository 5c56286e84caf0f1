import { expect, it } from "vitest";
import { type OnPolicyOptions, lossesOf } from "../../src/algorithms/algorithm.ts";
import { algorithms, readsReference } from "../../src/algorithms/index.ts";
import { updateOn } from "../../src/algorithms/update.ts";
import { partSchema } from "../../src/base/define-part.ts";
import type { TrainingRow } from "../../src/engine/engine.ts";
import { flatten } from "../../src/models/checkpoint.ts";
import { initialWeights } from "../../src/models/initialise.ts";
import type { Call, Trajectory } from "../../src/trajectory/trajectory.ts";
import "../helpers/all-parts.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { gradientEngine } from "../helpers/gradient-engine.ts";
import { answered } from "../helpers/search-world.ts";
import { tinyConfig } from "../helpers/tiny-model.ts";

const weights = flatten(
  tinyConfig,
  new Map(initialWeights(tinyConfig, 7).map((each) => [each.name, each])),
  "test",
);
/** Each with gradients of its own, which nothing has added to. */
const open = () => gradientEngine(tinyConfig, { policy: weights });

/** A call that continues the one before it: ids that it was shown, ids that it wrote. */
function call(parent: number | null, shown: number[], written: number[], role = "policy"): Call {
  return {
    parent,
    role,
    policyVersion: 0,
    finish: "stop",
    prompt: [{ owner: parent === null ? "template" : "environment", ids: shown, logprobs: null }],
    completion: [{ owner: "policy", ids: written, logprobs: written.map(() => -5) }],
  };
}

const made = (id: string, changes: Partial<Trajectory>): Trajectory =>
  answered("x", { id, ...changes });

/** The gradient of one update of GRPO, without a step of the weights. */
async function gradientOf(
  trajectories: readonly Trajectory[],
  given: Record<string, unknown> = {},
): Promise<Float32Array> {
  const opened = await open();
  const { engine } = opened;
  const algorithm = algorithms.get("grpo", "test");
  const options = algorithm.options.parse({ klCoef: 0, scale: "none", ...given });
  const rewards = ["em", "step"].map((name) => ({ name, weight: 1, options: {} }));
  await updateOn(
    { algorithm, options: options as unknown as OnPolicyOptions, engine, rewards, seed: 1 },
    0,
    trajectories,
  );
  return opened.gradients();
}

/** The gradient of rows that are written out by hand. @param advantages per target; null: not trained. */
async function gradientByHand(
  rows: readonly { ids: number[]; advantages: (number | null)[] }[],
): Promise<Float32Array> {
  const opened = await open();
  const { engine } = opened;
  const all = rows.flatMap(({ advantages }) => advantages);
  const weight = 1 / all.filter((each) => each !== null).length;
  const training = rows.map(({ ids, advantages }): TrainingRow => ({
    inputs: ids.slice(0, -1),
    targets: ids.slice(1),
    fields: {
      weights: advantages.map((each) => (each === null ? 0 : weight)),
      advantages: advantages.map((each) => each ?? 0),
      oldLogprobs: advantages.map((each) => (each === null ? 0 : -5)),
      refLogprobs: [],
    },
  }));
  const options = { clipLow: 0.2, clipHigh: 0.2, dualClip: null, klCoef: 0, entropyCoef: 0 };
  await engine.forwardBackward(training, {
    name: "policy-gradient",
    options: { ...options, klEstimator: "k3" },
  });
  await engine.optimStep({} as never);
  return opened.gradients();
}

const turns = (step: number): Trajectory["rewards"] => [
  { name: "em", value: 0, at: null },
  { name: "step", value: step, at: { call: 1 } },
];
const twoCalls = [call(null, [1, 2], [3, 4]), call(0, [5], [6, 7])];

it("moves only the tokens of the turn that a reward is addressed to", async () => {
  const other = [call(null, [1, 2], [3, 4]), call(0, [5], [8, 9])];
  const found = await gradientOf([
    made("a", { calls: twoCalls, rewards: turns(1), reward: 1 }),
    made("b", { calls: other, rewards: turns(0), reward: 0 }),
  ]);
  expectClose(
    found,
    await gradientByHand([
      { ids: [1, 2, 3, 4, 5, 6, 7], advantages: [null, 0, 0, null, 0.5, 0.5] },
      { ids: [1, 2, 3, 4, 5, 8, 9], advantages: [null, 0, 0, null, -0.5, -0.5] },
    ]),
  );
  expect(Math.hypot(...found)).toBeGreaterThan(0.1);
});

it("counts the tokens that branches share once", async () => {
  const leaf = (written: number[]): Call[] => [call(null, [1, 2], [3, 4]), call(0, [5], written)];
  const root = made("b", { calls: [call(null, [1, 2], [8])], reward: 0 });
  const found = await gradientOf(
    [
      made("a", { calls: leaf([6, 7]), reward: 1 }),
      made("a1", { calls: leaf([9]), reward: 0, branch: { of: "a", calls: 1 } }),
      root,
    ],
    { scale: undefined, advantage: { name: "tree-sibling", scale: "none" } },
  );
  // The shared segment is worth (1 + 0) / 2 against the other root's 0.
  expectClose(
    found,
    await gradientByHand([
      { ids: [1, 2, 3, 4, 5, 6, 7], advantages: [null, 0.25, 0.25, null, 0.5, 0.5] },
      { ids: [1, 2, 3, 4, 5, 9], advantages: [null, null, null, null, -0.5] },
      { ids: [1, 2, 8], advantages: [null, -0.25] },
    ]),
  );
});

it("counts the shared beginning of two calls of one trajectory once", async () => {
  const calls = [call(null, [1, 2], [3, 4]), call(0, [5], [6]), call(0, [5], [7])];
  const found = await gradientOf([
    made("a", { calls, reward: 1 }),
    made("b", { calls: [call(null, [1, 2], [8])], reward: 0 }),
  ]);
  expectClose(
    found,
    await gradientByHand([
      { ids: [1, 2, 3, 4, 5, 6], advantages: [null, 0.5, 0.5, null, 0.5] },
      { ids: [1, 2, 3, 4, 5, 7], advantages: [null, null, null, null, 0.5] },
      { ids: [1, 2, 8], advantages: [null, -0.5] },
    ]),
  );
});

it("does not learn from other roles, dropped messages, or rollouts that are not for training", async () => {
  const turn = { text: "", actions: [], problems: [], observations: [] };
  const calls = [
    call(null, [1, 2], [3]),
    call(0, [4], [5], "reader"),
    call(0, [4], [6]),
    call(0, [4], [7]),
  ];
  const found = await gradientOf([
    made("a", {
      calls,
      reward: 1,
      turns: [
        { ...turn, call: 0 },
        { ...turn, call: 2, dropped: true },
        { ...turn, call: 3 },
      ],
    }),
    made("b", { calls: [call(null, [1, 2], [8])], reward: 0 }),
    made("c", { calls: [call(null, [1, 2], [9])], reward: 5, purpose: "baseline", groupId: "c" }),
  ]);
  expectClose(
    found,
    await gradientByHand([
      { ids: [1, 2, 3, 4, 7], advantages: [null, 0.5, null, 0.5] },
      { ids: [1, 2, 8], advantages: [null, -0.5] },
    ]),
  );
});

it("leaves groups that a filter drops out of the denominators", async () => {
  const flat = ["c", "d"].map((id) =>
    made(id, { calls: [call(null, [1, 2], [9])], reward: 1, groupId: "flat" }),
  );
  const group = [
    made("a", { calls: [call(null, [1, 2], [3])], reward: 1 }),
    made("b", { calls: [call(null, [1, 2], [8])], reward: 0 }),
  ];
  const found = await gradientOf([...group, ...flat], { filters: ["zero-variance"] });
  expectClose(found, await gradientOf(group));
});

it("learns from a group again where it takes another's place, compared with itself alone", async () => {
  const flat = ["e", "f"].map((id) =>
    made(id, { calls: [call(null, [1, 2], [9])], reward: 1, groupId: "flat" }),
  );
  const group = (name: string, first: number) => [
    made(`${name}1`, { calls: [call(null, [1, 2], [first])], reward: 1, groupId: name }),
    made(`${name}2`, { calls: [call(null, [1, 2], [8])], reward: 0, groupId: name }),
  ];
  const [a, b] = [group("a", 3), group("b", 4)];
  const found = await gradientOf([...a, ...b, ...flat], {
    filters: [{ name: "zero-variance", fill: true }],
  });
  // Three groups: a, b and a once more.
  expectClose(found, await gradientOf([...a, ...b, ...group("again", 3)]));
});

it("resolves a schedule of an option at its step", () => {
  const algorithm = algorithms.get("grpo", "test");
  const schema = partSchema(algorithms, {}, { scheduled: true });
  const klCoef = { schedule: "linear", from: 0, to: 0.2 };
  const { name: _, ...options } = schema.parse({ name: "grpo", steps: 3, klCoef });
  const given = options as unknown as OnPolicyOptions;
  const coefficients = [0, 1, 2].map(
    (step) => lossesOf(algorithm, given, step)[0]?.options["klCoef"],
  );
  expect(coefficients).toEqual([0, 0.1, 0.2]);
  expect(readsReference({ name: "grpo", ...options })).toBe(true);
  expect(schema.safeParse({ name: "grpo", steps: klCoef }).success).toBe(false);
});
