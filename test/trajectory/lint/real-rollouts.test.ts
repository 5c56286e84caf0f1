import { beforeAll, describe, expect, it } from "vitest";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { type CompletionRequest, scriptedPolicy } from "../../../src/rollout/policy.ts";
import { GREEDY } from "../../../src/rollout/sampling.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import { behaviourSchema } from "../../../src/synth/teachers/behaviour.ts";
import { briefPlan } from "../../../src/synth/teachers/brief-plan.ts";
import { loadTokenizer, type Tokenizer } from "../../../src/text/tokenizer.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { openLint } from "../../../src/trajectory/lint/open-lint.ts";
import type { LintReading } from "../../../src/trajectory/lint/lint-reading.ts";
import { lintContextsOf, type TraceOrigin } from "../../../src/cli/trace/trace-origin.ts";
import { BASE_POLICY } from "../../../src/run/bases.ts";
import type { Budget } from "../../../src/env/budget.ts";
import type { Environment } from "../../../src/env/environments/environment.ts";
import { searchEnvironment } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const world = tinyWorld({ split: "dev", people: 60, seed: 3 });
const questions = [...world.questions(12, { distractors: 3 })];
const retriever = buildBm25(world.passages());
const cut = { scope: "observation", unit: "tokens", limit: 60, onExhausted: "cut" } as const;

function environmentWith(budget: Budget) {
  const turns = {
    scope: "trajectory",
    unit: "turns",
    limit: 3,
    onExhausted: "final-turn",
  } as const;
  const tools = [{ name: "corpus-search", topK: 3 }];
  return searchEnvironment({ tools, budgets: [turns, budget] }, retriever);
}

describe("lint over what every strategy plays on the tiny world", () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await loadTokenizer(BASE_POLICY);
  });

  it.each(strategies.names.filter((name) => name !== "external"))(
    "finds nothing in trajectories of %s",
    async (name) => {
      const trajectories = await played(name, environmentWith(cut));
      const report = await linted(trajectories, name);
      expect(report.violations).toEqual([]);
      expect(report.checked).toBe(12);
    },
  );

  it.each([
    ["tokens of one tool", { ...cut, tool: "search" }],
    ["characters, with a mark behind", { ...cut, unit: "characters", limit: 150, ending: "..." }],
  ] as const)("finds nothing where results alone are cut, to %s", async (_, budget) => {
    const environment = environmentWith(budget);
    const trajectories = await played("agent", environment);
    const results = trajectories.flatMap(({ turns }) => turns.flatMap((turn) => turn.observations));
    expect(results.filter((each) => each.cut === true).length).toBeGreaterThan(5);
    expect((await linted(trajectories, "agent")).violations).toEqual([]);
    // Another end of a passage than the shown one is still found, where it was shown.
    const other = trajectories.map((each) => structuredClone(each));
    for (const { turns } of other)
      for (const { observations } of turns)
        for (const each of observations) each.text = `${each.text.slice(0, 40)} and so on.`;
    expect((await linted(other, "agent")).violations.length).toBeGreaterThan(0);
  });

  async function played(name: string, environment: Environment): Promise<Trajectory[]> {
    const behaviour = behaviourSchema.parse({ search: 0.8, continue: 0.8, fullQuery: 0.9 });
    const write = (place: CompletionRequest): string =>
      environment.protocol.write(briefPlan(place, behaviour, 5), []);
    const policy = { ...scriptedPolicy(tokenizer, write), logprobs };
    const trajectories: Trajectory[] = [];
    for (const task of questions) {
      const id = `${task.id}/0`;
      const about = { task, id, groupId: task.id, purpose: "eval" as const, seed: 7 };
      const signal = new AbortController().signal;
      const sampling = GREEDY;
      trajectories.push(
        await strategies.get(name, "test").run({ policy, environment, ...about, sampling, signal }),
      );
    }
    return trajectories;
  }

  async function linted(trajectories: readonly Trajectory[], strategy: string) {
    const drawn = { strategy, sampling: GREEDY };
    const origin: TraceOrigin = {
      from: "test",
      environment: environmentWith(cut),
      policy: undefined,
      chat: undefined,
      drawSettingsOf: () => drawn,
    };
    const reading: LintReading = {
      textOf: ({ ids }) => tokenizer.decode(ids),
      endIds: tokenizer.endIds,
      vocabSize: tokenizer.vocabSize,
      contextOf: await lintContextsOf(origin),
    };
    const lint = openLint(reading, { keep: 3 });
    trajectories.forEach((each, i) => lint.line(JSON.parse(JSON.stringify(each)), i + 1));
    return lint.report();
  }
});

function logprobs(_: readonly number[], ids: readonly number[]): Promise<number[]> {
  return Promise.resolve(ids.map(() => -1));
}
