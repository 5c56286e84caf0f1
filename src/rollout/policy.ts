import type { RolloutEngine, SampleRequest, SampleResult } from "../engine/engine.ts";
import { firstEnd } from "../env/protocols/protocol.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Task } from "../trajectory/task.ts";
import type { Turn } from "../trajectory/trajectory.ts";
import type { Rendering } from "./chat-rendering.ts";
import { tokensThrough } from "./cut-tokens.ts";
import type { Dialogue, DialogueSetting } from "./dialogue.ts";

/** A request with facts for scripted policies; a model sees only the tokens. */
export interface CompletionRequest extends SampleRequest {
  task: Task;
  turns: readonly Turn[];
  /** What it has written since the message or the last interjection began, where it stopped and nothing ended: a script goes on behind it. */
  written?: string;
}

/** A model whose tokens we sample: trained, frozen, or a script in its place. */
export interface TokenPolicy {
  readonly role: string;
  readonly version: number | null;
  readonly tokenizer: Tokenizer;
  readonly maxPositions: number;
  /** Chat rendering; without it all text is sent unchanged. */
  readonly rendering?: Rendering;
  complete(request: CompletionRequest): Promise<SampleResult>;
  /** Log-probabilities (nats, temperature 1) of each of some tokens after a prompt; absent if not supported. */
  logprobs?(promptIds: readonly number[], ids: readonly number[]): Promise<readonly number[]>;
  /** The sequence will not be continued. */
  end(sequence: string): void;
}

/** A model with a text interface: its server keeps the tokens. */
export interface TextPolicy {
  readonly role: string;
  readonly takesPrefill: boolean;
  /** The start of a text in its own tokens; absent: they are unknown, and four characters count as one. */
  readonly firstTokens?: (text: string, maxTokens: number) => string;
  open(setting: DialogueSetting): Dialogue;
}

/** The writer of a rollout's messages. */
export type Policy = TokenPolicy | TextPolicy;

/** Whether it accepts a prefill. */
export function takesPrefill(policy: Policy): boolean {
  return "open" in policy ? policy.takesPrefill : true;
}

/** The start of a text, at most `maxTokens` of the policy's tokens. */
export function firstTokens(policy: Policy, text: string, maxTokens: number): string {
  if ("open" in policy) return (policy.firstTokens ?? beginningOf)(text, maxTokens);
  const ids = policy.tokenizer.encode(text);
  return ids.length <= maxTokens ? text : policy.tokenizer.decode(ids.slice(0, maxTokens));
}

/** Estimate for a server's unknown tokenizer: the average in English. */
export const CHARACTERS_PER_TOKEN = 4;

/** The start of a text for a server, with four characters per token. */
export function beginningOf(text: string, maxTokens: number): string {
  const cut = text.slice(0, maxTokens * CHARACTERS_PER_TOKEN);
  // Servers refuse half a character.
  return cut.length < text.length ? cut.replace(/[\uD800-\uDBFF]$/, "") : cut;
}

/** The policy of an engine. */
export function enginePolicy(
  engine: Omit<RolloutEngine, "tokenizer">,
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
    rendering,
    complete: ({ task: _task, turns: _turns, ...request }) => engine.sample(request),
    logprobs: engineLogprobs(engine),
    end: (sequence) => {
      engine.forget(sequence);
    },
  };
}

/** Log-probabilities of tokens after a prompt, by an engine. @param kept name of a snapshot; default: its current weights. */
export function engineLogprobs(
  engine: Pick<RolloutEngine, "logprobs">,
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

/** A policy whose messages come from a function, as tokens; it stops where an engine would stop. */
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
      const text = write(request).slice(request.written?.length ?? 0);
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
