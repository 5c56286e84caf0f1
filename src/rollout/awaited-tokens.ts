import type { SampleRequest, SampleResult } from "../engine/engine.ts";
import type { TokenPolicy } from "./policy.ts";

/** What another program is asked to sample: at most `maxTokens` after `promptIds`, up to a stop id or the end of a stop string. */
export type AwaitedSample = Pick<
  SampleRequest,
  "promptIds" | "maxTokens" | "stopIds" | "stopStrings"
>;

/** Sampled ids with their log-probabilities at temperature 1, nats. */
type Sampled = Pick<SampleResult, "ids" | "logprobs">;

/**
 * A policy whose tokens another program samples, such as a trainer that only trains. Temperature and seeds are that program's.
 * @param of.maxPositions tokens of the longest sequence that it takes.
 */
export function awaitedTokens(
  sample: (request: AwaitedSample) => Promise<Sampled>,
  of: Pick<TokenPolicy, "tokenizer" | "maxPositions" | "rendering">,
): TokenPolicy {
  return {
    ...of,
    role: "policy",
    version: null,
    async complete({ promptIds, maxTokens, stopIds, stopStrings }) {
      const { ids, logprobs } = await sample({ promptIds, maxTokens, stopIds, stopStrings });
      const last = ids.at(-1);
      const isEnd = last !== undefined && stopIds.includes(last);
      return { ids, logprobs, finish: isEnd ? "eos" : ids.length < maxTokens ? "stop" : "length" };
    },
    end: () => undefined,
  };
}
