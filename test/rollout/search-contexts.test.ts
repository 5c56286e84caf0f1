import { describe, expect, it } from "vitest";
import type { Engine } from "../../src/engine/engine.ts";
import type { SearchContext, Retriever } from "../../src/retrieval/retriever.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import { algorithms } from "../../src/algorithms/index.ts";
import { trainOnPolicy, type OnPolicyOptions } from "../../src/algorithms/on-policy.ts";
import { listed } from "../helpers/listed-retriever.ts";
import { GREEDY } from "../../src/rollout/sampling.ts";
import { replay, rolloutOptions, searchEnvironment, task } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const MESSAGES = ["<search>rain</search>", "<answer>Oslo</answer>"];
const contextsOf = ({
  asked,
}: ReturnType<typeof listed>): (readonly SearchContext[] | undefined)[] =>
  asked.map(({ options }) => options.contexts);

describe("a search of a rollout", () => {
  const run = (name: string, retriever: Retriever, progress?: SearchContext["progress"]) =>
    strategies
      .get(name, "test")
      .run(
        rolloutOptions({
          policy: replay(MESSAGES),
          environment: searchEnvironment({}, retriever),
          ...(progress && { progress }),
        }),
      );

  it("tells the retriever whose question it is and how far the run is", async () => {
    const progress = { step: 3, totalSteps: 10 };
    for (const name of ["agent", "rag"]) {
      const retriever = listed(["a"]);
      await run(name, retriever, progress);
      expect(contextsOf(retriever)).toEqual([
        [{ task, progress, seed: expect.any(Number) as number }],
      ]);
    }
  });

  it("tells of no progress outside training", async () => {
    for (const name of ["agent", "rag"]) {
      const retriever = listed(["a"]);
      await run(name, retriever);
      expect(contextsOf(retriever)).toEqual([[{ task, seed: expect.any(Number) as number }]]);
    }
  });
});

describe("training", () => {
  it("counts its steps from 0 for the searches of its rollouts, also when it goes on", async () => {
    const retriever = listed(["a"]);
    const algorithm = algorithms.get("grpo", "test");
    const given = { steps: 3, promptsPerStep: 1, groupSize: 2, filters: ["zero-variance"] };
    await trainOnPolicy({
      algorithm,
      options: algorithm.options.parse(given) as unknown as OnPolicyOptions,
      // Nothing is learnt from groups of equal rewards, so it is not asked for anything.
      engine: {} as Engine,
      policy: replay(MESSAGES),
      environment: searchEnvironment({}, retriever),
      strategy: "agent",
      tasks: [task],
      sampling: GREEDY,
      seed: 1,
      firstStep: 1,
      rewards: [{ name: "exact-match", weight: 1, options: {} }],
      signal: new AbortController().signal,
      onStep: () => Promise.resolve(true),
    });
    const steps = contextsOf(retriever).map((contexts) => contexts?.[0]?.progress);
    expect(steps).toEqual([1, 1, 2, 2].map((step) => ({ step, totalSteps: 3 })));
  });
});
