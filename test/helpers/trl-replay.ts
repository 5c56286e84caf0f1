import {
  lossesOf,
  type OnPolicyAlgorithm,
  type OnPolicyOptions,
} from "../../src/algorithms/algorithm.ts";
import { type ReadyRow, readyRows, type UpdateRun } from "../../src/algorithms/batch-rows.ts";
import { grpo } from "../../src/algorithms/grpo.ts";
import { tokenWeights } from "../../src/algorithms/loss-aggregation.ts";
import { adamAt } from "../../src/algorithms/optimizer-settings.ts";
import { asSampled } from "../../src/algorithms/training-rows.ts";
import type { PolicyEngine } from "../../src/engine/engine.ts";
import { requirePrompt } from "../../src/env/environments/environment.ts";
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
import type { Settings } from "../../src/run/settings/settings-schema.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import type { TrlRun } from "./trl-steps.ts";
import "./all-parts.ts";

/** Plays the messages of a run in agentrl's own environment, and scores them. */
async function replayRun(
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

/**
 * Plays, scores and learns a run's trajectories with agentrl's own code; only the questions, the sampled tokens and their minibatches are TRL's.
 * @param epsilon added to the deviation of a group's rewards: TRL has 1e-4, agentrl 1e-6.
 */
export async function ownUpdates(
  run: TrlRun,
  settings: Settings,
  engine: PolicyEngine,
  epsilon: number,
): Promise<OwnUpdate[]> {
  const played = await replayRun(run, settings, engine);
  await engine.snapshot("reference");
  const algorithm: OnPolicyAlgorithm = grpo;
  const given = settings.algorithm as unknown as OnPolicyOptions & { scale?: string };
  const { scale = "group", ...rest } = given;
  const advantage = { name: "group", scale, epsilon } as unknown as OnPolicyOptions["advantage"];
  const options: OnPolicyOptions = { ...rest, advantage };
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
    const { gradNorm } = await engine.optimStep(adamAt(options.optimizer, u, run.updates.length));
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
