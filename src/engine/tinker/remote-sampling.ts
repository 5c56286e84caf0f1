import { ConfigError, DataError, ExternalError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { SampleRequest, SampleResult } from "../engine.ts";
import { stopText } from "../local/stop-text.ts";
import { sampleOfJson, sampleSchema } from "./json-messages.ts";
import { decodeSample, type SampledSequence, type SampleReply } from "./messages.ts";
import type { RemoteSession, SamplingSource } from "./remote-model.ts";

export interface RemoteSampling {
  sample(request: SampleRequest, source: SamplingSource): Promise<SampleResult>;
}

const submitted = z.object({ request_id: z.union([z.string(), z.number()]).transform(String) });

/** Draws at a server. It cuts again what the server wrote: servers differ in which stop conditions they honour. */
export function remoteSampling(
  { connection, dialect }: RemoteSession,
  { tokenizer, maxPositions }: { tokenizer: Tokenizer; maxPositions: number },
): RemoteSampling {
  let drawn = 0;
  return {
    async sample(request, source) {
      const { promptIds, logitBias } = request;
      if (promptIds.length === 0 || promptIds.length >= maxPositions) {
        throw new DataError(
          "PROMPT_TOO_LONG",
          `the prompt has ${promptIds.length} tokens, but this model's ${maxPositions} positions allow 1 to ${maxPositions - 1}. Shorten observations or turns.`,
        );
      }
      if (logitBias !== undefined && Object.keys(logitBias).length > 0) {
        throw new ConfigError(
          "ENGINE_UNFIT",
          `a request biases the scores of tokens (${Object.keys(logitBias).slice(0, 3).join(", ")}, …), which servers of the Tinker API cannot do. Remove what asks for it, or use engine.name: local.`,
        );
      }
      const maxTokens = Math.min(request.maxTokens, maxPositions - promptIds.length);
      const { request_id } = await connection.call("asample", submitted, {
        body: {
          num_samples: 1,
          prompt: { chunks: [{ type: "encoded_text", tokens: promptIds }] },
          sampling_params: {
            ...{ max_tokens: maxTokens, seed: request.seed % dialect.seeds },
            ...{ temperature: request.temperature, top_p: request.topP },
            ...{ top_k: request.topK === 0 ? -1 : request.topK, stop: stopOf(request, tokenizer) },
          },
          ...source,
          ...("sampling_session_id" in source ? { seq_id: drawn++ } : {}),
          type: "sample",
        },
      });
      const answer = await connection.future(request_id);
      const [sequence] = replyOf(answer).sequences;
      if (sequence?.tokens.length === sequence?.logprobs.length && sequence !== undefined)
        return cutAtStop(sequence, request, tokenizer);
      throw new ExternalError(
        "HTTP_BAD_REPLY",
        `${connection.where}, asample: the result has ${sequence?.tokens.length ?? "no"} tokens and ${sequence?.logprobs.length ?? "no"} log-probabilities. Training needs one for each token; check the server.`,
      );
    },
  };
}

function replyOf({ bytes, json }: { bytes: Uint8Array; json: unknown }): SampleReply {
  return json === null || json === undefined
    ? decodeSample(bytes)
    : sampleOfJson(sampleSchema.parse(json));
}

/** Servers take ids or strings, not both: ids where there are no strings, else strings with the texts of the ids. */
function stopOf({ stopIds, stopStrings }: SampleRequest, tokenizer: Tokenizer): unknown {
  if (stopStrings.length === 0) return stopIds;
  const texts = stopIds.map((id) => new TextDecoder().decode(tokenizer.bytes(id)));
  return [...stopStrings, ...texts.filter((text) => text !== "")];
}

/**
 * The completion up to the first stop id, or up to the token that completes a stop string; that token is its last.
 * @example cutAtStop({ tokens: [5, 2, 7], … }, { stopIds: [2], … }, tokenizer).ids // [5, 2]
 */
function cutAtStop(
  { tokens, logprobs, stopReason }: SampledSequence,
  { maxTokens, stopIds, stopStrings }: Pick<SampleRequest, "maxTokens" | "stopIds" | "stopStrings">,
  tokenizer: Pick<Tokenizer, "bytes">,
): SampleResult {
  const stop = stopText(stopStrings);
  const upTo = (count: number, finish: SampleResult["finish"]): SampleResult => ({
    ids: tokens.slice(0, count),
    logprobs: logprobs.slice(0, count),
    finish,
  });
  for (const [i, id] of tokens.slice(0, maxTokens).entries()) {
    if (stopIds.includes(id)) return upTo(i + 1, "eos");
    if (stop.push(tokenizer.bytes(id))) return upTo(i + 1, "stop");
  }
  const count = Math.min(tokens.length, maxTokens);
  // A server that leaves out the token that it stopped at.
  return upTo(count, stopReason === "stop" && count < maxTokens ? "eos" : "length");
}
