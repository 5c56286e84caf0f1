import { errorMessage, RolloutError } from "../base/errors.ts";
import { seedFrom } from "../base/random.ts";
import { extractAnswer } from "../env/answer-rule.ts";
import { budgetOf } from "../env/budget.ts";
import type { Environment, Episode, StepResult } from "../env/environments/environment.ts";
import type { SampleResult } from "../engine/engine.ts";
import { sequenceIds } from "../trajectory/token-rows.ts";
import type { Task } from "../trajectory/task.ts";
import type { EndReason, Segment, Trajectory } from "../trajectory/trajectory.ts";
import { cutTokens } from "./cut-tokens.ts";
import type { Policy } from "./policy.ts";
import type { Sampling } from "./sampling.ts";

export interface RolloutOptions {
  policy: Policy;
  environment: Environment;
  task: Task;
  /** Unique in the run. */
  id: string;
  groupId: string;
  purpose: Trajectory["purpose"];
  seed: number;
  sampling: Sampling;
  signal: AbortSignal;
}

/** What a strategy changes about a plain rollout. */
export interface RolloutVariant {
  /** Passages to show in the prompt. */
  context?: string;
  /** Text that every completion of the first turn is made to begin with. */
  forcedPrefix?: string;
  /** Turns in which tools run, instead of the environment's budget; 0 goes to the final turn at once. */
  maxTurns?: number;
}

/** Longest message where the environment sets no budget for a turn, in tokens. */
const DEFAULT_TURN_TOKENS = 500;

/**
 * One trajectory: the policy writes a message, the environment answers, until it ends. Tool and endpoint failures are recorded
 * on the trajectory; anything else (an interrupted run, a bug) is thrown.
 *
 * Ids are kept as sampled. A message is cut at whole tokens through the one that closes the protocol's cut.
 */
export async function rollOut(
  options: RolloutOptions,
  variant: RolloutVariant = {},
): Promise<Trajectory> {
  const { environment, task, policy } = options;
  const trajectory: Trajectory = {
    ...{ id: options.id, taskId: task.id, groupId: options.groupId },
    ...{ purpose: options.purpose, seed: options.seed, calls: [], turns: [] },
    ...{ answer: null, end: "cancelled", rewards: [], reward: null },
  };
  const episode = environment.start(task, { trajectoryId: options.id, seed: options.seed });
  const prompt =
    variant.context === undefined
      ? episode.prompt
      : environment.renderPrompt(task, variant.context);
  try {
    trajectory.end = await play({ ...options, variant, trajectory, episode, prompt });
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error;
    const boundary = error.code === "TOOL_FAILED" ? "tool" : "model";
    trajectory.end = boundary === "tool" ? "tool-error" : "model-error";
    trajectory.error = { boundary, code: error.code, message: error.message };
  } finally {
    policy.end(options.id);
  }
  const messages = trajectory.turns.map(({ text }) => text);
  trajectory.answer = extractAnswer(environment.protocol.answer, { prompt, messages });
  return trajectory;
}

interface Play extends RolloutOptions {
  variant: RolloutVariant;
  trajectory: Trajectory;
  episode: Episode;
  prompt: string;
}

async function play(game: Play): Promise<EndReason> {
  const { environment, policy, trajectory, variant } = game;
  const { tokenizer } = policy;
  const turns = budgetOf(environment.budgets, "trajectory");
  const maxTurns = variant.maxTurns ?? turns?.limit ?? Infinity;
  const hasFinalTurn = variant.maxTurns !== undefined || turns?.onExhausted !== "end";
  let next: Segment[] = [segment("template", tokenizer.encode(game.prompt))];
  for (let turn = 0; ; turn++) {
    const final = turn >= maxTurns;
    if (final && !hasFinalTurn) return "turn-limit";
    if (turn === 0 && variant.forcedPrefix !== undefined) {
      next.push(segment("inserted", tokenizer.encode(variant.forcedPrefix)));
    }
    const message = await writeMessage(game, turn, next);
    if (message === null) return "context-limit";
    const text = turn === 0 ? (variant.forcedPrefix ?? "") + message : message;
    const result = await stepEpisode(game, text, final);
    const { actions, problems, observations, end, reply } = result;
    trajectory.turns.push({
      call: trajectory.calls.length - 1,
      text,
      actions,
      problems,
      observations,
    });
    if (end !== null || reply === null) return end ?? "no-answer";
    const limit = budgetOf(environment.budgets, "observation")?.limit ?? Infinity;
    next = [segment("environment", tokenizer.encode(reply).slice(0, limit))];
  }
}

/** Asks the policy for a message and records the call. @returns its text up to the cut; null when the context is full. */
async function writeMessage(game: Play, turn: number, added: Segment[]): Promise<string | null> {
  const { policy, environment, trajectory, task, sampling } = game;
  const { tokenizer } = policy;
  const turnTokens = budgetOf(environment.budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
  const context = budgetOf(environment.budgets, "context");
  const room = Math.min(context?.limit ?? Infinity, policy.maxPositions - 1);
  const last = trajectory.calls.length - 1;
  let parent = last < 0 ? null : last;
  let prompt = added;
  let promptIds = [
    ...(parent === null ? [] : sequenceIds(trajectory.calls, parent)),
    ...added.flatMap(({ ids }) => ids),
  ];
  if (promptIds.length + 1 > room) {
    if (context?.onExhausted !== "drop-oldest") return null;
    // The policy sees the newest tokens only: a prompt built anew, recorded as it was seen.
    promptIds = promptIds.slice(-Math.max(1, room - turnTokens));
    parent = null;
    prompt = [segment("environment", promptIds)];
  }
  const result = await policy.complete({
    ...{ promptIds, maxTokens: Math.min(turnTokens, room - promptIds.length), ...sampling },
    stopIds: tokenizer.endId === null ? [] : [tokenizer.endId],
    stopStrings: environment.protocol.stopStrings,
    seed: seedFrom(game.seed, turn),
    sequence: game.id,
    ...{ task, turns: trajectory.turns },
  });
  const { ids, logprobs, text } = cutTokens(result, tokenizer, environment.protocol);
  trajectory.calls.push({
    ...{ parent, role: policy.role, policyVersion: policy.version, prompt },
    completion: [{ owner: "policy", ids, logprobs }],
    finish: finishOf(result, ids.length),
  });
  return text;
}

function finishOf({ finish, ids }: SampleResult, kept: number): SampleResult["finish"] {
  return kept < ids.length ? "stop" : finish;
}

async function stepEpisode(game: Play, text: string, final: boolean): Promise<StepResult> {
  const { episode, signal } = game;
  try {
    return await episode.step(text, { final, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new RolloutError("TOOL_FAILED", `tool: ${errorMessage(error)}`, { cause: error });
  }
}

function segment(owner: Segment["owner"], ids: number[]): Segment {
  return { owner, ids, logprobs: null };
}
