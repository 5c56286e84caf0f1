import { execFile, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { random, type Random } from "../../src/base/random.ts";
import {
  environmentOver,
  expressionOf,
  openNamedDataset,
  retrieverOver,
  weightedRewards,
} from "../../src/run/assemble.ts";
import { openEpisodes } from "../../src/run/episodes.ts";
import { openPlayWorld } from "../../src/run/play-world.ts";
import { exportRecipe } from "../../src/exports/export-recipe.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import type { Override } from "../../src/run/settings/settings.ts";
import { NO_HISTORY } from "../../src/rewards/context.ts";
import { rewardExpression } from "../../src/rewards/expression/expression.ts";
import { rewards } from "../../src/rewards/index.ts";
import { scriptedPolicy } from "../../src/rollout/policy.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { scoreTrajectories } from "../../src/rollout/score.ts";
import { loadTokenizer } from "../../src/text/tokenizer.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { replay, rolloutOptions } from "../helpers/search-world.ts";
import { serveForTest } from "../helpers/serve.ts";
import { serveRecipeEnv } from "../helpers/served-env.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

/**
 * Pythons with the trainers: EXPORT_PYTHON_VERL, EXPORT_PYTHON_SKYRL, EXPORT_PYTHON_TRL. AGENTRL_TEST_PYTHON names one for the tests that need
 * no package.
 */
const python = process.env["AGENTRL_TEST_PYTHON"] ?? "python3";
const pythonOf = (trainer: string): string =>
  process.env[`EXPORT_PYTHON_${trainer.toUpperCase()}`] ?? "";
const isThere = spawnSync(python, ["-c", "import sys; assert sys.version_info >= (3, 10)"]).status === 0;

const folder = temporaryFolder();
const script = join(import.meta.dirname, "recipe-exports.py");

async function report<T>(program: string, args: readonly string[]): Promise<T> {
  const run = promisify(execFile)(program, ["-P", script, ...args], { timeout: 900_000, maxBuffer: 1 << 28,
  });
  const { stdout } = await run.catch((error: unknown) => {
    throw new Error(`${program} failed: ${(error as { stderr?: string }).stderr ?? ""}`, { cause: error }); // prettier-ignore
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as T;
}

const RATE = { "algorithm.optimizer.learningRate": 1e-4 };

async function exported(to: string, name: string, set: Record<string, unknown> = RATE) {
  const overrides: Override[] = Object.entries(set).map(([key, value]) => {
    return { key, value, origin: "test" };
  });
  const { settings, ...rest } = await resolveRecipe("search-r1", { tier: "smoke", overrides });
  const out = join(folder, name);
  await exportRecipe({ settings, ...rest }, to, { out });
  return { out, settings };
}

const WORDS = ["Oslo", "the", "A", "Ibsen", "yes", "no", " ", "\u0085", "\ufeff", "Ça", "x-y", "1,000", "\n", "İ", "an", "¹", "e\u0301a"]; // prettier-ignore

/** Messages that a policy could write, some of them broken. */
function messagesOf(source: Random): string[] {
  const text = (): string =>
    Array.from({ length: source.int(4) }, () => source.pick(WORDS)).join(
      source.pick([" ", "", "  "]),
    );
  const forms = [
    () => `<think>${text()}</think><search>${text()}</search>`,
    () => `<think>${text()}</think><search>${text()}</search> ${text()}`,
    () => `<think>${text()}</think>\u00a0<answer>${text()}</answer>`,
    () => `<think>${text()}</think><answer>${text()}</answer><search>${text()}</search>`,
    () => `<think>${text()}</think><answer> \\boxed{${text()}}</answer>`,
    () => `${text()}<answer>${text()}</answer>`,
    () => `<answer>${text()}`,
    () => text(),
    () => `<think>${text()}<search> ${text()}<b></search>`,
    () => `<think></think>\n<search>${text()}</search><answer>${text()}</answer>`,
  ];
  return Array.from({ length: 1 + source.int(6) }, () => source.pick(forms)());
}

describe.skipIf(!isThere)("the Python of an export, beside agentrl (needs a Python from 3.10)", () => {
  const set = {
    ...RATE,
    rewards: [
      { name: "exact-match", as: "em" },
      { name: "token-f1", as: "f1" },
      { name: "tag-format", as: "format" },
      { name: "tag-format", as: "short", answerWords: 1, only: "answer", weight: 0.5 },
      { name: "tag-format", as: "searching", only: "calls", optional: ["b"], blocks: ["think"] },
    ],
    reward: "if(not format, 0, f1 > 0, f1, 0.1) + 0.01 * turns * (answered or em >= 1) - searching ^ 2",
  };

  it.each([
    ["search-r1", {}],
    ["tags", { "environment.protocol": { name: "tags", spliced: true, boxed: true } }],
    ["end", { "budgets.0.onExhausted": "end", "environment.onInvalid": "end" }],
  ])("plays and scores 400 random episodes alike: %s", { timeout: 600_000 }, async (name, more) => {
    const { out, settings } = await exported("trl", `play-${name}`, { ...set, ...more });
    const dataset = await openNamedDataset(settings.dataset, settings.environment);
    const retriever = await retrieverOver(dataset, settings, "training");
    const { url } = await serveForTest(retriever);
    const environment = environmentOver(retriever, settings);
    const [task] = await dataset.tasks(1);
    const source = random(11);
    const plays: string[][] = [];
    const scored: { messages: string[]; references: string[] }[] = [];
    const trajectories: Trajectory[] = [];
    const expected: number[] = [];
    const expression = rewardExpression(set.reward, set.rewards.map(({ as }) => as));
    for (let i = 0; i < 400; i++) {
      const messages = messagesOf(source);
      const references = [["Oslo"], ["the x-y", "Ibsen Oslo"], ["yes"], [" "]][i % 4]!;
      const options = rolloutOptions({ policy: replay(messages), environment, task: { ...task!, references } }); // prettier-ignore
      const trajectory = await rollOut({ ...options, environment: withoutTokens(environment) });
      trajectories.push(trajectory);
      // Messages after the last are empty, as of a policy that writes nothing.
      plays.push([...messages, ...Array<string>(8).fill("")]);
      const written = trajectory.turns.map(({ text }) => text);
      scored.push({ messages: written, references });
      const values = new Map<string, number>();
      for (const { name: reward, as, weight: _, ...own } of settings.rewards) {
        const of = { trajectory, task: { ...task!, references } };
        const [value] = await scoreWith(rewards.get(reward, "reward"), [of], own);
        values.set(as ?? reward, value as number);
      }
      const time = { step: 0, totalSteps: 1, history: NO_HISTORY };
      const [whole] = expression.combine([{ trajectory, values }], time);
      expected.push(whole! + 0.5 * values.get("short")!);
    }
    const files = [join(folder, `${name}-plays.json`), join(folder, `${name}-scored.json`)] as const;
    writeFileSync(files[0], JSON.stringify(plays));
    writeFileSync(files[1], JSON.stringify(scored));
    const played = await report<{ end: string; messages: string[] }[]>(python, ["play", out, files[0], `${url}/retrieve`]); // prettier-ignore
    expect(played.map(({ end }) => end)).toEqual(trajectories.map(({ end }) => end));
    expect(played.map(({ messages }) => messages)).toEqual(scored.map(({ messages }) => messages));
    const found = await report<{ score: number }[]>(python, ["score", out, files[1]]);
    for (const [i, { score }] of found.entries()) expect(score, JSON.stringify(scored[i])).toBeCloseTo(expected[i]!, 12); // prettier-ignore
    expect(new Set(expected.map((value) => value.toFixed(3))).size).toBeGreaterThan(8);
  });
});

/** Budgets of tokens are the trainer's: the random policy has another tokenizer. */
function withoutTokens<E extends { budgets: readonly { unit: string }[] }>(environment: E): E {
  return { ...environment, budgets: environment.budgets.filter(({ unit }) => unit !== "tokens") };
}

interface Loaded {
  rows: object;
  prompts: string[];
  unknown?: string[];
  played: {
    reward: number;
    sequences: { response: string; trained: string; tokens: number; logprobs: number; scores: number[] }[];
  }[];
}

describe.each(["verl", "skyrl"])("an export to %s", (trainer) => {
  const program = pythonOf(trainer);
  it.skipIf(program === "")(
    `is loaded by the trainer's own code, and its 500 episodes are agentrl's (set EXPORT_PYTHON_${trainer.toUpperCase()} to run it)`,
    { timeout: 1_800_000 },
    async () => {
      const set = {
        ...RATE,
        "environment.prompt": "{instructions}\n\nQuestion: {question}\n",
        rewards: [{ name: "exact-match", as: "em" }, { name: "retrieval-hit", as: "hit" }],
        reward: "if(answered, em + 0.25 * hit, -0.5) - 0.125 * searches",
      };
      const { out, settings } = await exported(trainer, trainer, set);
      const episodes = await openEpisodes(settings);
      const model = join(out, "policy");
      const tokenizer = await loadTokenizer(model);
      const play = openPlayWorld(episodes, { folder: model, tokenizer });
      const { server } = await serveRecipeEnv("search-r1", { play, maxSessions: 600 });
      const source = random(5);
      const cases = Array.from({ length: 500 }, (_, i) => {
        const [gold = ""] = episodes.tasks[i % 16]!.references;
        const last = source.pick([`<answer> ${gold}</answer>`, "<answer> no</answer>", "nothing"]);
        return { split: "train", index: i % 16, messages: [...messagesOf(source), last] };
      });
      const file = join(folder, `${trainer}-cases.json`);
      writeFileSync(file, JSON.stringify(cases));
      const url = `${server.url.replace("http", "ws")}/play`;
      const found = await report<Loaded>(program, [trainer, out, file, url]);
      expect(found.rows).toEqual({ train: 16, validation: 16 });
      for (const tag of ["<think>", "<search>", "<information>", "<answer>"])
        expect(found.prompts.filter((each) => !each.includes(tag))).toEqual([]);
      const rewards = new Set<number>();
      for (const [i, { index, messages }] of cases.entries()) {
        const trajectory = await rollOut({
          policy: scriptedPolicy(tokenizer, ({ turns }) => messages[turns.length] ?? messages.at(-1)!),
          environment: episodes.environment,
          task: episodes.tasks[index]!,
          ...{ id: "here", groupId: "here", purpose: "train" as const, seed: 0 },
          sampling: settings.sampling,
          signal: new AbortController().signal,
        });
        const scored = [{ trajectory, task: episodes.tasks[index]! }];
        await scoreTrajectories(scored, weightedRewards(settings), { expression: expressionOf(settings) });
        const { reward, sequences } = found.played[i]!;
        const [sequence] = sequences;
        expect(reward, JSON.stringify(messages)).toBeCloseTo(trajectory.reward!, 6);
        expect(sequence!.trained).toBe(trajectory.turns.map(({ text }) => text).join(""));
        expect([sequence!.logprobs, sequence!.scores.length]).toEqual([sequence!.tokens, sequence!.tokens]);
        expect(sequence!.trained).not.toContain("<information>");
        rewards.add(trajectory.reward!);
      }
      expect(rewards.size).toBeGreaterThan(5);
      // Keys that a recipe adds beside verl's own.
      if (trainer === "verl") {
        expect(found.unknown).toEqual([
          "agentrl.root",
          "ray_kwargs.ray_init.runtime_env.env_vars.PYTHONPATH",
        ]);
      }
    },
  );
});

it.skipIf(pythonOf("trl") === "")(
  "an export to trl trains two steps on the exported policy (set EXPORT_PYTHON_TRL to run it)",
  { timeout: 900_000 },
  async () => {
    const { out, settings } = await exported("trl", "trl", {});
    const dataset = await openNamedDataset(settings.dataset, settings.environment);
    const { url } = await serveForTest(await retrieverOver(dataset, settings, "training"));
    const args = ["trl", out, `${url}/retrieve`];
    const found = await report<{ unknown: string[]; moved: number; steps: Record<string, number>[] }>(pythonOf("trl"), args); // prettier-ignore
    expect(found.unknown).toEqual([]);
    expect(found.steps).toHaveLength(2);
    for (const { loss, reward } of found.steps) {
      expect(Number.isFinite(loss)).toBe(true);
      expect(reward).toBeGreaterThanOrEqual(0);
    }
    expect(found.moved).toBeGreaterThan(0);
  },
);
