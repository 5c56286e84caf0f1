import { definedValues } from "../base/defined-values.ts";
import {
  type Episode,
  requireStepResult,
  type StepResult,
} from "../env/environments/environment.ts";
import { type InsertedHint, policyTokenCount, type Trajectory } from "../trajectory/trajectory.ts";
import { agentRunner } from "./agents.ts";
import type { Dialogue, Input, Interject, Message } from "./dialogue.ts";
import { withAnswerEnd } from "./forced-answer.ts";
import { type RolloutOptions, runTools, timed } from "./record.ts";

/** State of a rollout before a turn. */
export interface TurnPlace {
  options: RolloutOptions;
  trajectory: Trajectory;
  /** Both as after the last turn; a strategy that plays several messages forks them. */
  dialogue: Dialogue;
  episode: Episode;
  inputs: readonly Input[];
  /** Prefill of its message; also the last of `inputs`. Or the message so far, where calls before wrote parts of it (`partTokens`). */
  prefill: string;
  /** Tokens of its message in earlier parts. */
  partTokens?: number;
  /** May insert hints into its message; it reads the message with the prefill. */
  interject?: Interject;
  /** Hints in `inputs`, for the record. */
  hints?: readonly Omit<InsertedHint, "call">[];
  turn: number;
  final: boolean;
}

/** Result of a turn: the rollout continues with its dialogue and episode. */
export type PlayedTurn = { dialogue: Dialogue; episode: Episode; result: StepResult };

/** A part of a message that goes on in the next call. */
export type UnfinishedTurn = { unfinished: string; tokens: number };

/** Asks for one message, steps the environment and records the turn; null when the context is full. @param chain if not the main line. */
export async function playMessage(place: TurnPlace, chain?: string): Promise<PlayedTurn | null> {
  const message = await askForMessage(place);
  return message === null ? null : playWritten(place, message, chain);
}

/** Plays a part of a message, of so many tokens at most, or the rest of it. */
export async function playPart(
  place: TurnPlace,
  most: number,
): Promise<PlayedTurn | UnfinishedTurn | null> {
  const message = await askForMessage(place, most);
  if (message === null || message.isUnfinished !== true)
    return message === null ? null : playWritten(place, message);
  const written = place.trajectory.calls.slice(message.call, message.call + 1);
  const tokens = policyTokenCount({ calls: written });
  return { unfinished: message.text, tokens };
}

/**
 * Asks for a message, or a part of it, and records it as a call.
 * @returns the message so far, with its prefill; null when the context is full.
 */
export async function askForMessage(place: TurnPlace, most = Infinity): Promise<Message | null> {
  const { options, trajectory, dialogue, inputs, prefill, interject, hints = [] } = place;
  const { partTokens: tokens = 0 } = place;
  const within = interject === undefined ? undefined : afterPrefill(prefill, interject);
  const part = tokens === 0 && most === Infinity ? undefined : { text: prefill, tokens, most };
  const write = () => dialogue.write(inputs, options.signal, within, part);
  const message = await timed(options, trajectory, "modelMs", write);
  if (message === null) return null;
  const { call, put } = message;
  const inIt = put.map(({ name, text }) => ({ name, text }));
  for (const hint of [...hints, ...inIt]) (trajectory.hints ??= []).push({ ...hint, call });
  const { protocol } = options.environment;
  const text = prefill + message.text;
  return {
    ...message,
    text: withAnswerEnd(text, { prefill, protocol, call: trajectory.calls[call] }),
  };
}

/** The environment's reaction to a message, recorded with it as a turn. */
export async function playWritten(
  { options, trajectory, dialogue, episode, final, prefill }: TurnPlace,
  { text, call }: Pick<Message, "text" | "call">,
  chain?: string,
): Promise<PlayedTurn> {
  const { signal } = options;
  const runAgent = agentRunner(options, trajectory);
  const step = () => episode.step(text, { final, signal, runAgent });
  const result = await timed(options, trajectory, "searchMs", () => runTools(signal, step));
  requireStepResult(options.environment.name, result);
  const { actions, problems, observations, reward, status, canonical = text } = result;
  // A prefill is part of the prompt, so only a message without one can be rewritten as a whole.
  const isRewritten = canonical !== text && prefill === "" && dialogue.rewrite !== undefined;
  if (isRewritten) dialogue.rewrite?.(canonical);
  const written = isRewritten ? canonical : text;
  const about = definedValues({ reward, status, chain });
  trajectory.turns.push({ call, text: written, actions, problems, observations, ...about });
  options.onTurn?.(trajectory);
  return { dialogue, episode, result };
}

/** Adapts an `Interject` that reads the whole message to a dialogue that passes it without the prefill, which is never removed. */
function afterPrefill(prefill: string, interject: Interject): Interject {
  const { length } = prefill;
  return (message, put) => {
    const there = put.map((each) => ({ ...each, at: each.at + length }));
    const found = interject(prefill + message, there);
    return found && { ...found, keep: Math.max(0, found.keep - length) };
  };
}
