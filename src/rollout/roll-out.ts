import { errorMessage, InternalError, RolloutError } from "../base/errors.ts";
import { seedFrom } from "../base/random.ts";
import { extractAnswer } from "../env/answer-rule.ts";
import { budgetOf } from "../env/budget.ts";
import type { Environment, Episode } from "../env/environments/environment.ts";
import type { SampleResult } from "../engine/engine.ts";
import type { Progress } from "../retrieval/retriever.ts";
import { sequenceIds } from "../trajectory/token-rows.ts";
import type { Task } from "../trajectory/task.ts";
import type { CallFinish, EndReason, Segment, Trajectory } from "../trajectory/trajectory.ts";
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
  /** Of the run that it is part of; absent outside training. */
  progress?: Progress;
}

/** What a strategy changes about a plain rollout. */
export interface RolloutVariant {
  /** Search with the question and show what was found in the prompt. */
  searchFirst?: boolean;
  /** Text that every completion of the first turn is made to begin with. */
  forcedPrefix?: string;
  /** Turns in which tools run, instead of the environment's budget; 0 goes to the final turn at once. */
  maxTurns?: number;
}

/** Longest message where the environment sets no budget for a turn, in tokens. */
export const DEFAULT_TURN_TOKENS = 500;

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
  const { environment, task, policy, id, seed, progress } = options;
  const trajectory: Trajectory = {
    ...{ id: options.id, taskId: task.id, groupId: options.groupId },
    ...{ purpose: options.purpose, seed: options.seed, calls: [], turns: [] },
    ...{ answer: null, end: "cancelled", rewards: [], reward: null },
  };
  const episode = environment.start(task, { trajectoryId: id, seed, progress });
  let { prompt } = episode;
  try {
    if (variant.searchFirst === true) prompt = await promptAfterSearch(options);
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

async function promptAfterSearch(options: RolloutOptions): Promise<string> {
  const { environment, task, progress, signal } = options;
  const asker = { task, ...(progress === undefined ? {} : { progress }) };
  const found = await runTools(signal, () => environment.search(task.question, asker, signal));
  const text = cutToObservation(found.text, options);
  return environment.renderPrompt(task, environment.protocol.renderContext({ ...found, text }));
}

/** As much of the passages as one observation may show. */
function cutToObservation(text: string, { environment, policy }: RolloutOptions): string {
  const limit = budgetOf(environment.budgets, "observation")?.limit ?? Infinity;
  const ids = policy.tokenizer.encode(text);
  return ids.length <= limit ? text : policy.tokenizer.decode(ids.slice(0, limit));
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
  let next: Segment[] = [segment("template", tokenizer.encodeStart(game.prompt))];
  for (let turn = 0; ; turn++) {
    const final = turn >= maxTurns;
    if (final && !hasFinalTurn) return "turn-limit";
    if (turn === 0 && variant.forcedPrefix !== undefined) {
      next.push(segment("inserted", tokenizer.encode(variant.forcedPrefix)));
    }
    const message = await writeMessage(game, turn, next);
    if (message === null) return "context-limit";
    const text = turn === 0 ? (variant.forcedPrefix ?? "") + message : message;
    const { episode, signal } = game;
    const result = await runTools(signal, () => episode.step(text, { final, signal }));
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
  game.signal.throwIfAborted();
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
  // A whole message must fit, or half of a context that is not even that long.
  const shown = room - Math.min(turnTokens, Math.floor(room / 2));
  if (context?.onExhausted === "drop-oldest" && promptIds.length > shown) {
    // The policy sees the newest tokens only: a prompt built anew, recorded as it was seen.
    promptIds = promptIds.slice(-shown);
    parent = null;
    prompt = [segment("template", promptIds)];
  }
  const space = room - promptIds.length;
  if (space < 1) return null;
  const result = await policy.complete({
    ...{ promptIds, maxTokens: Math.min(turnTokens, space), ...sampling },
    stopIds: [...tokenizer.endIds],
    stopStrings: environment.protocol.stopStrings,
    seed: seedFrom(game.seed, turn),
    sequence: game.id,
    ...{ task, turns: trajectory.turns },
  });
  const { ids, logprobs, text } = cutTokens(result, tokenizer, environment.protocol);
  trajectory.calls.push({
    ...{ parent, role: policy.role, policyVersion: policy.version, prompt },
    completion: [{ owner: "policy", ids, logprobs }],
    finish: finishOf(result, ids.length, space < turnTokens),
  });
  return text;
}

function finishOf({ finish, ids }: SampleResult, kept: number, cramped: boolean): CallFinish {
  if (kept < ids.length) return "stop";
  return finish === "length" && cramped ? "context" : finish;
}

/** A tool's failure is the trajectory's; an interruption and a bug are not. */
async function runTools<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof InternalError) throw error;
    throw new RolloutError("TOOL_FAILED", `tool: ${errorMessage(error)}`, { cause: error });
  }
}

function segment(owner: Segment["owner"], ids: number[]): Segment {
  return { owner, ids, logprobs: null };
}
