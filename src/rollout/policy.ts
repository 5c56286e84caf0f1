import type { Engine, SampleRequest, SampleResult } from "../engine/engine.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Task } from "../trajectory/task.ts";
import type { Turn } from "../trajectory/trajectory.ts";
import type { Rendering } from "./chat-rendering.ts";
import { firstEnd, tokensThrough } from "./cut-tokens.ts";
import type { Dialogue, DialogueSetting } from "./dialogue.ts";

/** A request with what a scripted policy may look at; a model sees the tokens only. */
export interface CompletionRequest extends SampleRequest {
  task: Task;
  turns: readonly Turn[];
}

/** A model whose tokens are ours: under training, frozen, or a script that stands for one. */
export interface TokenPolicy {
  /** Name under which its calls are recorded. */
  readonly role: string;
  /** Optimiser steps behind its weights; null when it is not trained. */
  readonly version: number | null;
  readonly tokenizer: Tokenizer;
  /** Longest sequence, in tokens. */
  readonly maxPositions: number;
  /** How messages are put to a model that was trained to chat; without it all text is put to it as it is. */
  readonly rendering?: Rendering;
  complete(request: CompletionRequest): Promise<SampleResult>;
  /** Log-probabilities (nats, temperature 1) of each of some tokens after a prompt; absent where it cannot tell. */
  logprobs?(promptIds: readonly number[], ids: readonly number[]): Promise<readonly number[]>;
  /** The sequence will not be continued. */
  end(sequence: string): void;
}

/** A model that is asked by text: its server has the tokens. */
export interface TextPolicy {
  readonly role: string;
  /** Whether the beginning of a message can be forced on it. */
  readonly takesPrefix: boolean;
  open(setting: DialogueSetting): Dialogue;
}

/** Whatever writes the messages of a rollout. */
export type Policy = TokenPolicy | TextPolicy;

/** Whether the beginning of a message can be forced on it. */
export function takesPrefix(policy: Policy): boolean {
  return "open" in policy ? policy.takesPrefix : true;
}

/** The beginning of a text, so many of the policy's tokens. */
export function firstTokens(policy: Policy, text: string, maxTokens: number): string {
  if ("open" in policy) return beginningOf(text, maxTokens);
  const ids = policy.tokenizer.encode(text);
  return ids.length <= maxTokens ? text : policy.tokenizer.decode(ids.slice(0, maxTokens));
}

/** Of a server's tokens, of which nothing is known here: what they are on average in English. */
export const CHARACTERS_PER_TOKEN = 4;

/** The beginning of a text for a server: four characters stand for a token. */
export function beginningOf(text: string, maxTokens: number): string {
  const cut = text.slice(0, maxTokens * CHARACTERS_PER_TOKEN);
  // Half a character is no text, and servers refuse it.
  return cut.length < text.length ? cut.replace(/[\uD800-\uDBFF]$/, "") : cut;
}

/** The policy that an engine holds. */
export function enginePolicy(
  engine: Engine,
  tokenizer: Tokenizer,
  rendering?: Rendering,
): TokenPolicy {
  return {
    role: "policy",
    get version() {
      return engine.policyVersion;
    },
    tokenizer,
    maxPositions: engine.capabilities.maxPositions,
    ...(rendering === undefined ? {} : { rendering }),
    complete: ({ task: _task, turns: _turns, ...request }) => engine.sample(request),
    logprobs: engineLogprobs(engine),
    end: (sequence) => {
      engine.forget(sequence);
    },
  };
}

/**
 * Log-probabilities of tokens after a prompt, computed by an engine.
 * @param kept the role under which the engine kept weights; its present weights when absent.
 */
export function engineLogprobs(
  engine: Engine,
  kept?: string,
): NonNullable<TokenPolicy["logprobs"]> {
  return async (promptIds, ids) => {
    const sequence = [...promptIds, ...ids];
    const targets = sequence.slice(1);
    const weights = targets.map((_, i) => (i < promptIds.length - 1 ? 0 : 1));
    const row = { inputs: sequence.slice(0, -1), targets, fields: { weights } };
    const [logprobs] = await engine.logprobs([row], kept);
    return Array.from(logprobs?.slice(promptIds.length - 1) ?? []);
  };
}

/** A policy that writes what a function says, token by token as a model would have: it stops where an engine would stop it. */
export function scriptedPolicy(
  tokenizer: Tokenizer,
  write: (request: CompletionRequest) => string,
  maxPositions = Infinity,
): TokenPolicy {
  return {
    role: "policy",
    version: null,
    tokenizer,
    maxPositions,
    complete(request) {
      const text = write(request);
      let ids = tokenizer.encode(text);
      const stop = firstEnd(text, request.stopStrings);
      if (stop !== null) ids = ids.slice(0, tokensThrough(ids, stop, tokenizer));
      else if (tokenizer.endId !== null) ids.push(tokenizer.endId);
      const kept = ids.slice(0, request.maxTokens);
      const finish = kept.length < ids.length ? "length" : stop === null ? "eos" : "stop";
      return Promise.resolve({ ids: kept, logprobs: kept.map(() => 0), finish });
    },
    end: () => undefined,
  };
}
