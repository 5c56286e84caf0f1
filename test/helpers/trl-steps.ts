import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { OnPolicyAlgorithm, OnPolicyOptions } from "../../src/algorithms/algorithm.ts";
import { lossesOf } from "../../src/algorithms/algorithm.ts";
import { type ReadyRow, readyRows, type UpdateRun } from "../../src/algorithms/batch-rows.ts";
import { grpo } from "../../src/algorithms/grpo.ts";
import { tokenWeights } from "../../src/algorithms/loss-aggregation.ts";
import { adamAt } from "../../src/algorithms/optimizer-settings.ts";
import { asSampled } from "../../src/algorithms/training-rows.ts";
import { requirePrompt } from "../../src/env/environments/environment.ts";
import type { PolicyEngine } from "../../src/engine/engine.ts";
import { flatten, writeCheckpoint } from "../../src/models/checkpoint.ts";
import { parseDecoderConfig } from "../../src/models/config-json.ts";
import { parameterSpecs } from "../../src/models/parameters.ts";
import type { TokenPolicy } from "../../src/rollout/policy.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { scoreTrajectories } from "../../src/rollout/score.ts";
import {
  environmentOver,
  expressionOf,
  openNamedDataset,
  policyOf,
  retrieverOver,
  weightedRewards,
} from "../../src/run/assemble.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import type { Settings } from "../../src/run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../../src/run/settings/settings.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { formulaWeights } from "../golden/decoder/formula-weights.mjs";
import "./all-parts.ts";

/** A trajectory as TRL's batch holds it. Log-probabilities are of the tokens with mask 1. */
export interface TrlRow {
  prompt: string;
  references: string[];
  /** The tokens that the policy sampled, by message, before anything is cut. */
  sampled: number[][];
  end: string;
  reward: number;
  advantage: number;
  promptIds: number[];
  completionIds: number[];
  /** Lengths of runs of 1, 0, 1, …; the first may be 0. */
  mask: number[];
  old?: number[];
  reference?: number[];
}

/** An optimizer step of TRL. */
export interface TrlUpdate {
  rollout: number;
  /** The sum over its forward passes, as they are differentiated. */
  loss: number;
  /** Indices within the rollout. */
  rows: number[];
  logprobs: number[][];
  /** As the trainer logs them. */
  logged: number;
  gradNorm: number;
  learningRate: number;
}

/** What trl-steps/steps.py prints. */
export interface TrlRun {
  versions: Record<string, string>;
  seed: number;
  rollouts: TrlRow[][];
  updates: TrlUpdate[];
}

/** An export that is trained with TRL, and by agentrl's own code on the same batches. */
export interface TrlCase {
  name: string;
  tier: "smoke" | "paper";
  set: Readonly<Record<string, unknown>>;
}

const golden = join(import.meta.dirname, "../golden");

/** Two layers of Qwen2's architecture with weights by formula; ids beyond the tokenizer's, as Qwen2.5 has them. */
const QWEN2 = {
  model_type: "qwen2",
  architectures: ["Qwen2ForCausalLM"],
  vocab_size: 704,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 40,
  max_position_embeddings: 2048,
  hidden_act: "silu",
  attention_dropout: 0,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  use_sliding_window: false,
  sliding_window: 8,
  max_window_layers: 0,
  tie_word_embeddings: true,
};

export async function writeQwen2(folder: string): Promise<string> {
  const config = parseDecoderConfig(QWEN2, "trl-steps");
  const named = formulaWeights(parameterSpecs(config));
  const weights = flatten(config, new Map(named.map((each) => [each.name, each])), "trl-steps");
  await writeCheckpoint(folder, { config, weights }, { dtype: "F32", tokenizerFrom: folder });
  for (const file of ["tokenizer.json", "tokenizer_config.json"])
    await cp(join(golden, "trl-steps", file), join(folder, file));
  return folder;
}

/** @param model folder of `writeQwen2`. */
export function settingsOf(
  { tier, set }: TrlCase,
  model: string,
): Promise<ResolvedSettings<Settings>> {
  const all = { "policy.from": model, "algorithm.oldLogprobs": "recomputed", ...set };
  const overrides = Object.entries(all).map(([key, value]) => ({ key, value, origin: "test" }));
  return resolveRecipe("search-r1", { tier, overrides });
}

/** Plays the messages of a run in agentrl's own environment, and scores them. */
export async function replayRun(
  run: TrlRun,
  settings: Settings,
  engine: PolicyEngine,
): Promise<Trajectory[][]> {
  const dataset = await openNamedDataset(settings.dataset, settings.environment);
  const environment = environmentOver(await retrieverOver(dataset, settings, "training"), settings);
  const policy = await policyOf(engine, settings, settings.policy.from, environment);
  const tasks = await dataset.tasks(Infinity);
  const prompt = requirePrompt(environment);
  const prompts = new Map(tasks.map((task) => [prompt(task, ""), task]));
  const played: Trajectory[][] = [];
  for (const [r, rows] of run.rollouts.entries()) {
    const trajectories: Trajectory[] = [];
    for (const [i, row] of rows.entries()) {
      const task = prompts.get(row.prompt);
      if (task === undefined) throw new Error(`no question has the prompt ${row.prompt}`);
      trajectories.push(
        await rollOut({
          policy: sampledBefore(policy, row.sampled),
          environment,
          task,
          id: `${r}/${i}`,
          groupId: `${r}/${task.id}`,
          purpose: "train",
          seed: 1,
          sampling: settings.sampling,
          signal: new AbortController().signal,
        }),
      );
    }
    await scoreTrajectories(
      trajectories.map((trajectory) => ({ trajectory, task: taskOf(trajectory, tasks) })),
      weightedRewards(settings),
      { expression: expressionOf(settings) },
    );
    played.push(trajectories);
  }
  return played;
}

function taskOf<T extends { id: string }>({ taskId }: Trajectory, tasks: readonly T[]): T {
  const task = tasks.find(({ id }) => id === taskId);
  if (task === undefined) throw new Error(`no question is ${taskId}`);
  return task;
}

/** The policy, with messages that it has sampled before. */
function sampledBefore(policy: TokenPolicy, messages: readonly number[][]): TokenPolicy {
  return {
    ...policy,
    complete: ({ turns, maxTokens }) => {
      const ids = (messages[turns.length] ?? []).slice(0, maxTokens);
      const ended = policy.tokenizer.endIds.includes(ids.at(-1) ?? -1);
      return Promise.resolve({ ids, logprobs: ids.map(() => 0), finish: ended ? "eos" : "stop" });
    },
  };
}

/** An optimizer step of agentrl on a batch of TRL. */
export interface OwnUpdate {
  loss: number;
  gradNorm: number;
  /** Of the trained tokens, in the order of TRL's rows. */
  logprobs: number[][];
  rows: ReadyRow[];
}

export interface UpdateOptions {
  /** Added to the deviation of a group's rewards: TRL's 1e-4, or agentrl's 1e-6. */
  epsilon: number;
}

/** Trains the engine on a run's batches, divided as TRL divided them. */
export async function ownUpdates(
  run: TrlRun,
  settings: Settings,
  engine: PolicyEngine,
  { epsilon }: UpdateOptions,
): Promise<OwnUpdate[]> {
  const played = await replayRun(run, settings, engine);
  await engine.snapshot("reference");
  const algorithm: OnPolicyAlgorithm = grpo;
  const given = settings.algorithm as unknown as OnPolicyOptions & { scale?: string };
  const { scale = "group", ...rest } = given;
  const options = { ...rest, advantage: { name: "group", scale, epsilon } } as OnPolicyOptions;
  const rewards = weightedRewards(settings);
  const update: UpdateRun = { algorithm, options, engine, rewards, seed: settings.seed };
  const losses = lossesOf(algorithm, options);
  const ready = new Map<number, ReadyRow[]>();
  const updates: OwnUpdate[] = [];
  for (const [u, { rollout, rows }] of run.updates.entries()) {
    const asked = { losses, critic: null };
    if (!ready.has(rollout))
      ready.set(rollout, (await readyRows(update, rollout, played[rollout]!, asked)).rows);
    const all = ready.get(rollout)!;
    const batch = rows.map((i) => all.find(({ trajectory: { id } }) => id === `${rollout}/${i}`)!);
    const scaled = batch.map((row) => row.trainedTokens);
    const weights = tokenWeights(options.lossAggregation, scaled, options.fixedLength);
    const share = trlShare(options, scaled, all);
    const result = await engine.forwardBackward(
      batch.map((row, i) => {
        const { advantages, oldLogprobs, refLogprobs } = row;
        return asSampled(row, weights[i]! * share, { advantages, oldLogprobs, refLogprobs });
      }),
      losses[0]!,
    );
    const { gradNorm } = await engine.optimStep(
      adamAt(options.optimizer, u, run.updates.length),
    );
    const logprobs = batch.map(({ lossMask }, i) =>
      [...result.logprobs[i]!].filter((_, t) => lossMask[t] === 1),
    );
    updates.push({ loss: result.loss, gradNorm, logprobs, rows: batch });
  }
  return updates;
}

/** The difference that the export names: TRL divides by the mean number of tokens of the minibatches, agentrl by a minibatch's own. */
function trlShare(
  { lossAggregation, minibatches }: OnPolicyOptions,
  tokens: readonly number[],
  all: readonly ReadyRow[],
): number {
  if (lossAggregation !== "token-mean") return 1;
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  return (sum(tokens) * minibatches) / sum(all.map(({ trainedTokens }) => trainedTokens));
}

/** The mask of a row of TRL, token by token. */
export function maskOf({ mask }: Pick<TrlRow, "mask">): number[] {
  return mask.flatMap((length, i) => Array<number>(length).fill(i % 2 === 0 ? 1 : 0));
}

const RATE = { "algorithm.optimizer.learningRate": 1e-3 };
const QUESTIONS = { name: "tinyworld", people: 100, questions: 16 };

export const TRL_CASES: readonly TrlCase[] = [
  // One update per batch.
  { name: "smoke", tier: "smoke", set: { ...RATE, "algorithm.promptsPerStep": 3, "algorithm.minibatches": 1 } },
  {
    name: "paper",
    tier: "paper",
    set: {
      ...RATE,
      dataset: { ...QUESTIONS, split: "train" },
      "evaluation.dataset": { ...QUESTIONS, split: "test" },
      ...Object.fromEntries(
        ["triviaqa", "popqa", "hotpotqa", "wikimultihop", "musique", "bamboogle"].map((set) => [
          `evaluation.sets.${set}.dataset`,
          { ...QUESTIONS, split: "test" },
        ]),
      ),
      retriever: "bm25",
      "algorithm.steps": 2,
      "algorithm.promptsPerStep": 2,
      "algorithm.minibatches": 2,
    },
  },
];
