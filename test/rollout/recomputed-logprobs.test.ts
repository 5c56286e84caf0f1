import { describe, expect, it } from "vitest";
import type { Engine } from "../../src/engine/engine.ts";
import { recomputeLogprobs } from "../../src/rollout/recomputed-logprobs.ts";
import type { Call, Trajectory } from "../../src/trajectory/trajectory.ts";
import { answered } from "../helpers/search-world.ts";

/** A model that finds every token as likely as its id says: id 3 has log-probability −3. */
const engine: Pick<Engine, "logprobs" | "capabilities" | "policyVersion"> = {
  capabilities: {
    maxPositions: 12,
    vocabSize: 100,
    adapters: false,
    temperatures: true,
    losses: [],
    critic: null,
  },
  policyVersion: 4,
  logprobs: (rows) =>
    Promise.resolve(
      rows.map(({ targets, fields: { weights } }) =>
        Float32Array.from(targets, (id, i) => (weights[i] === 0 ? NaN : -id)),
      ),
    ),
};

function call(ids: number[], changes: Partial<Call> & { logprobs?: number[] } = {}): Call {
  const { logprobs = ids.map((id) => -id), ...more } = changes;
  return {
    parent: null,
    role: "policy",
    policyVersion: 4,
    finish: "stop",
    prompt: [{ owner: "template", ids: [9], logprobs: null }],
    completion: [{ owner: "policy", ids, logprobs }],
    ...more,
  };
}

async function drifts(trajectory: Trajectory) {
  const told: string[] = [];
  const again = recomputeLogprobs(engine, {
    tolerance: 0.1,
    onDrift: (of, text) => told.push(`${of}: ${text}`),
  });
  await again.add("one", trajectory);
  return { told, summary: await again.finish() };
}

describe("log-probabilities that are computed again", () => {
  it("says of each trajectory the token that is farthest off, and sums up", async () => {
    const calls = [
      call([1, 2], { logprobs: [-1.25, -2] }),
      call([3], { parent: 0, logprobs: [-2.5] }),
    ];
    const { told, summary } = await drifts(answered("x", { calls }));
    expect(told).toEqual([
      "one: calls[1]: a token was recorded at −2.5000 and is −3.0000 under the model: 0.5000 nats apart, 0.1 are allowed.",
    ]);
    expect(summary).toEqual({
      trajectories: 1,
      tokens: 3,
      largest: 0.5,
      mean: 0.25,
      left: { scripted: 0, otherWeights: 0, otherModel: 0, tooLong: 0 },
    });
  });

  it("computes each at the temperature of its call", async () => {
    const asked: unknown[] = [];
    const again = recomputeLogprobs(
      {
        ...engine,
        logprobs: (rows) => {
          asked.push(...rows.map(({ fields }) => fields["temperatures"]));
          return engine.logprobs(rows);
        },
      },
      { tolerance: 0.1, onDrift: () => undefined },
    );
    const calls = [call([1]), call([2], { parent: 0, temperature: 0.7 })];
    await again.add("one", answered("x", { calls }));
    await again.add("two", answered("y", { calls: [call([1])] }));
    await again.finish();
    expect(asked).toEqual([[1, 0.7, 0.7], undefined]);
  });

  it("leaves out what other weights, other models or nobody drew, and what is too long", async () => {
    const calls = [
      call([1], { policyVersion: 3, logprobs: [-9] }),
      call([1], { role: "critic", logprobs: [-9] }),
      call([1, 2], { logprobs: [0, 0] }),
      call(Array<number>(12).fill(1)),
      call([5], { policyVersion: null }),
    ];
    const { told, summary } = await drifts(answered("x", { calls }));
    expect(told).toEqual([]);
    expect(summary).toMatchObject({
      tokens: 1,
      left: { scripted: 1, otherWeights: 1, otherModel: 1, tooLong: 1 },
    });
  });

  it("looks at what branches share once", async () => {
    const calls = [call([1, 2]), call([3], { parent: 0 }), call([4], { parent: 0 })];
    expect((await drifts(answered("x", { calls }))).summary.tokens).toBe(4);
  });
});
