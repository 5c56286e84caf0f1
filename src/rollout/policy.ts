import type { Engine, SampleRequest, SampleResult } from "../engine/engine.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Task } from "../trajectory/task.ts";
import type { Turn } from "../trajectory/trajectory.ts";
import { tokensThrough } from "./cut-tokens.ts";

/** A request with what a scripted policy may look at; a model sees the tokens only. */
export interface CompletionRequest extends SampleRequest {
  task: Task;
  turns: readonly Turn[];
}

/** Whatever writes the messages of a rollout: a model under training, a frozen one, a script. */
export interface Policy {
  /** Name under which its calls are recorded. */
  readonly role: string;
  /** Optimiser steps behind its weights; null when it is not trained. */
  readonly version: number | null;
  readonly tokenizer: Tokenizer;
  /** Longest sequence, in tokens. */
  readonly maxPositions: number;
  complete(request: CompletionRequest): Promise<SampleResult>;
  /** The sequence will not be continued. */
  end(sequence: string): void;
}

/** The policy that an engine holds. */
export function enginePolicy(engine: Engine, tokenizer: Tokenizer): Policy {
  return {
    role: "policy",
    get version() {
      return engine.policyVersion;
    },
    tokenizer,
    maxPositions: engine.capabilities.maxPositions,
    complete: ({ task: _task, turns: _turns, ...request }) => engine.sample(request),
    end: (sequence) => {
      engine.forget(sequence);
    },
  };
}

/** A policy that writes what a function says, token by token as a model would have: it stops where an engine would stop it. */
export function scriptedPolicy(
  tokenizer: Tokenizer,
  write: (request: CompletionRequest) => string,
  maxPositions = Infinity,
): Policy {
  return {
    role: "policy",
    version: null,
    tokenizer,
    maxPositions,
    complete(request) {
      const text = write(request);
      let ids = tokenizer.encode(text);
      const stop = firstStop(text, request.stopStrings);
      if (stop !== null) ids = ids.slice(0, tokensThrough(ids, stop, tokenizer));
      else if (tokenizer.endId !== null) ids.push(tokenizer.endId);
      const kept = ids.slice(0, request.maxTokens);
      const finish = kept.length < ids.length ? "length" : stop === null ? "eos" : "stop";
      return Promise.resolve({ ids: kept, logprobs: kept.map(() => 0), finish });
    },
    end: () => undefined,
  };
}

/** Where the first of the stop strings to be complete ends; null where there is none. */
function firstStop(text: string, strings: readonly string[]): number | null {
  const ends = strings.flatMap((each) => {
    const at = text.indexOf(each);
    return at < 0 ? [] : [at + each.length];
  });
  return ends.length === 0 ? null : Math.min(...ends);
}
